// Sweeps of a known MDP with a discount. `tests/it/host.rs` is the same arithmetic in plain Rust.
//
// A block of threads takes a tile: whole states whose arcs fit shared memory. All threads multiply, four loads in flight each;
// then one thread per row adds its products in their order, and one thread per state takes the best row. No sum depends on the
// schedule, so every run gives the same bits. Rows of states that fit no tile get a warp or a block each: 256 sums of every 256th
// product, in order, which a fixed tree adds.
//
// A model whose values do not fit the second-level cache is read in passes, one per block of columns; `partial` holds the sums
// of the passes before. Compiled without contraction (--fmad=false): a product is rounded before it is added.

typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef unsigned long long u64;
typedef long long i64;

#define THREADS 256
#define TILE_ARCS 2048
#define TILE_ROWS 1024
// Longer rows of states that fit no tile get a block each; see `src/card.rs`.
#define WARP_ROW 512
#define NO_CHOICE 0xffffffffu
// States of a zone: what a tile reads is noted as a range of zones.
#define ZONE 4096
// Changes are kept in this many places, so that blocks seldom wait for each other.
#define SLOTS 1024

struct __align__(16) Tile {
    u32 row, end_row, state, end_state, arc, end_arc, zone, end_zone;
};

// 12 bytes per arc.
struct Wide {
    const u32* targets;
    const double* probabilities;
    typedef double Item;
    __device__ double item(u32 arc) const { return __ldcs(probabilities + arc); }
    __device__ double of(double item) const { return item; }
    __device__ void prepare() const {}
};

// 5 bytes per arc, for models with at most 256 different probabilities; the table is read from shared memory.
struct Coded {
    const u32* targets;
    const u8* codes;
    const double* table;
    double* shared;
    typedef u8 Item;
    __device__ u8 item(u32 arc) const { return __ldcs(codes + arc); }
    __device__ double of(u8 item) const { return shared[item]; }
    __device__ void prepare() const {
        shared[threadIdx.x] = table[threadIdx.x];
        __syncthreads();
    }
};

__device__ __forceinline__ u32 place(u32 i, u32 pad) { return i + (i >> pad); }

// Writes the products of arcs first..end to shared memory.
template <class Arcs>
__device__ __forceinline__ void multiply(const Arcs& arcs, u32 first, u32 end, u32 pad, const double* __restrict__ values,
                                         double* product) {
    for (u32 base = first + threadIdx.x; base < end; base += 4 * THREADS) {
        u32 target[4];
        typename Arcs::Item item[4];
        double v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 arc = base + k * THREADS;
            target[k] = arc < end ? __ldcs(arcs.targets + arc) : 0;
            item[k] = arc < end ? arcs.item(arc) : (typename Arcs::Item)0;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] = __ldg(values + target[k]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 arc = base + k * THREADS;
            if (arc < end) product[place(arc - first, pad)] = arcs.of(item[k]) * v[k];
        }
    }
}

__device__ __forceinline__ double add(double sum, u32 from, u32 to, u32 pad, const double* product) {
    for (u32 i = from; i < to; i++) sum += product[place(i, pad)];
    return sum;
}

// Maps a number to an integer with the same order.
__device__ __forceinline__ i64 ordered(double x) {
    i64 bits = __double_as_longlong(x);
    return bits ^ ((bits >> 63) & 0x7fffffffffffffffLL);
}

// Joins the threads' changes: places [0, SLOTS) hold the smallest, [SLOTS, 2 SLOTS) the largest, [2 SLOTS, 3 SLOTS) the number of
// states with another choice. The smallest, the largest and a count do not depend on the order of joining.
__device__ __forceinline__ void report(double least, double most, u32 changed, i64* extremes) {
    // A warp without states has nothing to say.
    if (!__any_sync(0xffffffffu, least <= most)) return;
    i64 low = ordered(least), high = ordered(most);
    for (int step = 16; step > 0; step >>= 1) {
        i64 other_low = __shfl_xor_sync(0xffffffffu, low, step);
        i64 other_high = __shfl_xor_sync(0xffffffffu, high, step);
        low = other_low < low ? other_low : low;
        high = other_high > high ? other_high : high;
        changed += __shfl_xor_sync(0xffffffffu, changed, step);
    }
    if ((threadIdx.x & 31) == 0) {
        u32 slot = (blockIdx.x * (THREADS / 32) + (threadIdx.x >> 5)) & (SLOTS - 1);
        atomicMin(extremes + slot, low);
        atomicMax(extremes + SLOTS + slot, high);
        if (changed) atomicAdd((u64*)(extremes + 2 * SLOTS + slot), (u64)changed);
    }
}

// One pass before the last: adds its part of every row to `partial`.
template <class Arcs>
__device__ void part(const Tile* tiles, const Arcs& arcs, const u32* row_starts, u32 pad, const double* values, double* partial,
                     u32 is_first) {
    __shared__ double product[TILE_ARCS + TILE_ARCS / 16];
    Tile tile = tiles[blockIdx.x];
    arcs.prepare();
    multiply(arcs, tile.arc, tile.end_arc, pad, values, product);
    __syncthreads();
    for (u32 row = tile.row + threadIdx.x; row < tile.end_row; row += THREADS) {
        double sum = is_first ? 0.0 : __ldcs(partial + row);
        sum = add(sum, row_starts[row] - tile.arc, row_starts[row + 1] - tile.arc, pad, product);
        __stcs(partial + row, sum);
    }
}

// The last pass, or the only one: the best row of every state. A block takes every gridDim.x-th tile.
template <class Arcs>
__device__ void best(const Tile* tiles, u32 n_tiles, const Arcs& arcs, const u32* row_starts, const u32* choices,
                     const double* rewards, double discount, u32 pad, const double* partial, const double* values,
                     double* next, u32* policy, i64* extremes, const u32* chosen, u32* zones, u32 round) {
    __shared__ double product[TILE_ARCS + TILE_ARCS / 16];
    __shared__ double row_value[TILE_ROWS];
    arcs.prepare();
    double least = __longlong_as_double(0x7ff0000000000000LL), most = -least;
    u32 changed = 0;
    Tile tile = tiles[chosen ? chosen[blockIdx.x] : blockIdx.x], following = tile;
    for (u32 i = blockIdx.x; i < n_tiles; i += gridDim.x) {
        u32 j = i + gridDim.x;
        if (j < n_tiles) following = tiles[chosen ? chosen[j] : j];
        multiply(arcs, tile.arc, tile.end_arc, pad, values, product);
        __syncthreads();
        for (u32 row = tile.row + threadIdx.x; row < tile.end_row; row += THREADS) {
            double sum = partial ? __ldcs(partial + row) : 0.0;
            double reward = rewards[row];
            sum = add(sum, row_starts[row] - tile.arc, row_starts[row + 1] - tile.arc, pad, product);
            row_value[row - tile.row] = reward + discount * sum;
        }
        __syncthreads();
        for (u32 state = tile.state + threadIdx.x; state < tile.end_state; state += THREADS) {
            double old = values[state];
            u32 before = policy[state];
            u32 first = choices[state], end = choices[state + 1];
            double value = first < end ? row_value[first - tile.row] : 0.0;
            u32 choice = first < end ? first : NO_CHOICE;
            for (u32 row = first + 1; row < end; row++) {
                double other = row_value[row - tile.row];
                choice = other > value ? row : choice;
                value = other > value ? other : value;
            }
            next[state] = value;
            double change = value - old;
            least = change < least ? change : least;
            most = change > most ? change : most;
            changed += before != choice;
            policy[state] = choice;
            if (__double_as_longlong(value) != __double_as_longlong(old)) zones[state / ZONE] = round;
        }
        tile = following;
    }
    report(least, most, changed, extremes);
}

// A sweep over the gathered rows of a policy: `ends` are those of the rows within their tile.
template <class Arcs>
__device__ void chain(const Tile* tiles, Arcs arcs, const u16* ends, const double* rewards, double discount, u32 pad,
                      const double* values, double* next, i64* extremes) {
    __shared__ double product[TILE_ARCS + TILE_ARCS / 16];
    Tile tile = tiles[blockIdx.x];
    u32 n_arcs = ends[tile.end_state - 1];
    arcs.prepare();
    multiply(arcs, tile.arc, tile.arc + n_arcs, pad, values, product);
    __syncthreads();
    double least = __longlong_as_double(0x7ff0000000000000LL), most = -least;
    for (u32 state = tile.state + threadIdx.x; state < tile.end_state; state += THREADS) {
        u32 from = state == tile.state ? 0 : ends[state - 1];
        double sum = add(0.0, from, ends[state], pad, product);
        double value = rewards[state] + discount * sum;
        next[state] = value;
        if (extremes) {
            double change = value - values[state];
            least = change < least ? change : least;
            most = change > most ? change : most;
        }
    }
    if (extremes) report(least, most, 0, extremes);
}

// Copies the rows of a policy into the space of their tile, those of all passes one after the other.
template <class Item>
__device__ __forceinline__ void copy(const Item* from, Item* to, u32 n, u32 lane) {
    for (u32 i = lane; i < n; i += 32) to[i] = from[i];
}

template <class Item>
__device__ void gather(const Tile* tiles, const u32* policy, const u32* row_starts, u32 n_rows, u32 n_passes,
                       const double* rewards, const u32* targets, const Item* items, u16* ends, double* chosen_rewards,
                       u32* chosen_targets, Item* chosen_items) {
    __shared__ u32 end[TILE_ROWS];
    __shared__ u32 of_warp[THREADS / 32];
    Tile tile = tiles[blockIdx.x];
    u32 n = tile.end_state - tile.state;
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // Thread i has the states 4 i to 4 i + 3.
    u32 length[4];
    u32 sum = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 i = 4 * threadIdx.x + k;
        length[k] = 0;
        if (i < n) {
            u32 row = policy[tile.state + i];
            chosen_rewards[tile.state + i] = row == NO_CHOICE ? 0.0 : rewards[row];
            for (u32 pass = 0; row != NO_CHOICE && pass < n_passes; pass++) {
                const u32* starts = row_starts + (u64)pass * (n_rows + 1ull);
                length[k] += starts[row + 1] - starts[row];
            }
        }
        sum += length[k];
    }
    u32 before = sum;
    for (u32 step = 1; step < 32; step <<= 1) {
        u32 other = __shfl_up_sync(0xffffffffu, before, step);
        if (lane >= step) before += other;
    }
    if (lane == 31) of_warp[warp] = before;
    before -= sum;
    __syncthreads();
    for (u32 w = 0; w < warp; w++) before += of_warp[w];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 i = 4 * threadIdx.x + k;
        before += length[k];
        if (i < n) {
            end[i] = before;
            ends[tile.state + i] = (u16)before;
        }
    }
    __syncthreads();
    for (u32 i = warp; i < n; i += THREADS / 32) {
        u32 row = policy[tile.state + i];
        u32 to = tile.arc + (i ? end[i - 1] : 0);
        for (u32 pass = 0; row != NO_CHOICE && pass < n_passes; pass++) {
            const u32* starts = row_starts + (u64)pass * (n_rows + 1ull);
            u32 from = starts[row], n_arcs = starts[row + 1] - from;
            copy(targets + from, chosen_targets + to, n_arcs, lane);
            copy(items + from, chosen_items + to, n_arcs, lane);
            to += n_arcs;
        }
    }
}

// The sum of one long row, the same for every thread that asks: 256 sums of every 256th product, added by a fixed tree.
template <class Arcs>
__device__ double long_sum(const Arcs& arcs, u32 first, u32 end, const double* __restrict__ values, double* sums) {
    double sum = 0.0;
    for (u64 base = (u64)first + threadIdx.x; base < end; base += 4 * THREADS) {
        double p[4];
        double v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u64 arc = base + k * THREADS;
            p[k] = arc < end ? arcs.of(arcs.item((u32)arc)) : 0.0;
            v[k] = arc < end ? __ldg(values + __ldcs(arcs.targets + arc)) : 0.0;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) sum += p[k] * v[k];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

// The same sum by one warp, the same bits for any length: its lanes have eight of the 256 sums each.
template <class Arcs>
__device__ double short_sum(const Arcs& arcs, u32 first, u32 end, const double* __restrict__ values) {
    double sums[8];
#pragma unroll
    for (int k = 0; k < 8; k++) sums[k] = 0.0;
    for (u32 base = first + (threadIdx.x & 31); base < end; base += 256) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            u32 arc = base + 32 * k;
            if (arc < end) sums[k] += arcs.of(arcs.item(arc)) * __ldg(values + __ldcs(arcs.targets + arc));
        }
    }
#pragma unroll
    for (int half = 4; half > 0; half >>= 1)
#pragma unroll
        for (int k = 0; k < half; k++) sums[k] += sums[k + half];
    for (int half = 16; half > 0; half >>= 1) sums[0] += __shfl_xor_sync(0xffffffffu, sums[0], half);
    return sums[0];
}

// The rows of states that fit no tile: those up to WARP_ROW by a warp each, the others, whose places are listed, by a block each.
template <class Arcs>
__device__ void warp_rows(const u32* rows, u32 n_rows, const Arcs& arcs, const u32* row_starts, const double* rewards,
                          double discount, const double* values, double* row_values) {
    arcs.prepare();
    u32 place = blockIdx.x * (THREADS / 32) + (threadIdx.x >> 5);
    if (place >= n_rows) return;
    u32 row = rows[place], first = row_starts[row], end = row_starts[row + 1];
    if (end - first > WARP_ROW) return;
    double sum = short_sum(arcs, first, end, values);
    if ((threadIdx.x & 31) == 0) row_values[place] = rewards[row] + discount * sum;
}

template <class Arcs>
__device__ void long_rows(const u32* rows, const u32* places, const Arcs& arcs, const u32* row_starts, const double* rewards,
                          double discount, const double* values, double* row_values) {
    __shared__ double sums[THREADS];
    arcs.prepare();
    u32 place = places[blockIdx.x], row = rows[place];
    double sum = long_sum(arcs, row_starts[row], row_starts[row + 1], values, sums);
    if (threadIdx.x == 0) row_values[place] = rewards[row] + discount * sum;
}

// The best row of the states that fit no tile, one block per state. `firsts` are the places of their rows in `row_values`.
extern "C" __global__ void __launch_bounds__(THREADS)
    long_best(const u32* states, const u32* firsts, const u32* choices, const double* row_values, const double* values,
              double* next, u32* policy, i64* extremes, u32* zones, u32 round) {
    __shared__ double bests[THREADS];
    __shared__ u32 places[THREADS];
    u32 state = states[blockIdx.x], from = firsts[blockIdx.x], to = firsts[blockIdx.x + 1];
    double value = __longlong_as_double(0xfff0000000000000LL);
    u32 where = NO_CHOICE;
    for (u32 i = from + threadIdx.x; i < to; i += THREADS) {
        double other = row_values[i];
        if (other > value) {
            value = other;
            where = i - from;
        }
    }
    bests[threadIdx.x] = value;
    places[threadIdx.x] = where;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            double other = bests[threadIdx.x + half];
            u32 place = places[threadIdx.x + half];
            double mine = bests[threadIdx.x];
            // Of equals, the first.
            if (other > mine || (other == mine && place < places[threadIdx.x])) {
                bests[threadIdx.x] = other;
                places[threadIdx.x] = place;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        u32 choice = choices[state] + places[0];
        double change = bests[0] - values[state];
        u32 changed = threadIdx.x == 0 && policy[state] != choice;
        __syncwarp();
        if (threadIdx.x == 0) {
            next[state] = bests[0];
            policy[state] = choice;
            zones[state / ZONE] = round;
        }
        report(change, change, changed, extremes);
    }
}

// The policy's rows that fit no tile, read where they are, one block per state.
template <class Arcs>
__device__ void long_chain(const u32* states, Arcs arcs, const u32* row_starts, const u32* policy, const double* rewards,
                           double discount, const double* values, double* next, i64* extremes) {
    __shared__ double sums[THREADS];
    arcs.prepare();
    u32 state = states[blockIdx.x], row = policy[state];
    double sum = long_sum(arcs, row_starts[row], row_starts[row + 1], values, sums);
    double value = rewards[row] + discount * sum;
    double change = value - values[state];
    __syncthreads();
    if (threadIdx.x == 0) next[state] = value;
    if (extremes && threadIdx.x < 32) report(change, change, 0, extremes);
}

// Lists the tiles that read a zone that the sweep before changed. A tile that reads none would compute the same bits again. The
// order of the list depends on the schedule; no result depends on the order.
extern "C" __global__ void choose(const Tile* tiles, u32 n_tiles, const u32* zones, u32 round, u32* chosen, u32* n_chosen) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_tiles) return;
    u32 end = tiles[i].end_zone;
    for (u32 zone = tiles[i].zone; zone < end; zone++) {
        if (zones[zone] + 1 >= round) {
            chosen[atomicAdd(n_chosen, 1u)] = i;
            return;
        }
    }
}

// Begins the next count of changes.
extern "C" __global__ void forget(i64* extremes) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    extremes[i] = i < SLOTS ? 0x7fffffffffffffffLL : i < 2 * SLOTS ? (i64)0x8000000000000000ULL : 0;
}

// Moves all values alike.
extern "C" __global__ void move_values(double* values, u32 n, double by) {
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n) values[i] += by;
}

// Both kinds of arcs, with and without codes.
#define TILED extern "C" __global__ void __launch_bounds__(THREADS, 6)
#define LONG extern "C" __global__ void __launch_bounds__(THREADS)
#define WIDE const u32 *targets, const double *probabilities
#define CODED const u32 *targets, const u8 *codes, const double *table
#define WIDE_ARCS Wide arcs = {targets, probabilities};
#define CODED_ARCS                 \
    __shared__ double shared[256]; \
    Coded arcs = {targets, codes, table, shared};

#define PART(NAME, KIND, ARCS)                                                                                    \
    TILED NAME(const Tile* tiles, KIND, const u32* row_starts, u32 pad, const double* values, double* partial,   \
               u32 is_first) {                                                                                    \
        ARCS part(tiles, arcs, row_starts, pad, values, partial, is_first);                                       \
    }
PART(part_wide, WIDE, WIDE_ARCS)
PART(part_coded, CODED, CODED_ARCS)

#define BEST(NAME, KIND, ARCS)                                                                                      \
    TILED NAME(const Tile* tiles, u32 n_tiles, KIND, const u32* row_starts, const u32* choices,                     \
               const double* rewards, double discount, u32 pad, const double* partial, const double* values,       \
               double* next, u32* policy, i64* extremes, const u32* chosen, u32* zones, u32 round) {                \
        ARCS best(tiles, n_tiles, arcs, row_starts, choices, rewards, discount, pad, partial, values, next, policy, \
                  extremes, chosen, zones, round);                                                                  \
    }
BEST(best_wide, WIDE, WIDE_ARCS)
BEST(best_coded, CODED, CODED_ARCS)

#define CHAIN(NAME, KIND, ARCS)                                                                                  \
    TILED NAME(const Tile* tiles, KIND, const u16* ends, const double* rewards, double discount, u32 pad,       \
               const double* values, double* next, i64* extremes) {                                              \
        ARCS chain(tiles, arcs, ends, rewards, discount, pad, values, next, extremes);                           \
    }
CHAIN(chain_wide, WIDE, WIDE_ARCS)
CHAIN(chain_coded, CODED, CODED_ARCS)

#define WARP_ROWS(NAME, KIND, ARCS)                                                                           \
    LONG NAME(const u32* rows, u32 n_rows, KIND, const u32* row_starts, const double* rewards, double discount, \
              const double* values, double* row_values) {                                                     \
        ARCS warp_rows(rows, n_rows, arcs, row_starts, rewards, discount, values, row_values);                \
    }
WARP_ROWS(warp_rows_wide, WIDE, WIDE_ARCS)
WARP_ROWS(warp_rows_coded, CODED, CODED_ARCS)

#define LONG_ROWS(NAME, KIND, ARCS)                                                                           \
    LONG NAME(const u32* rows, const u32* places, KIND, const u32* row_starts, const double* rewards,        \
              double discount, const double* values, double* row_values) {                                    \
        ARCS long_rows(rows, places, arcs, row_starts, rewards, discount, values, row_values);                \
    }
LONG_ROWS(long_rows_wide, WIDE, WIDE_ARCS)
LONG_ROWS(long_rows_coded, CODED, CODED_ARCS)

#define LONG_CHAIN(NAME, KIND, ARCS)                                                                              \
    LONG NAME(const u32* states, KIND, const u32* row_starts, const u32* policy, const double* rewards,          \
              double discount, const double* values, double* next, i64* extremes) {                              \
        ARCS long_chain(states, arcs, row_starts, policy, rewards, discount, values, next, extremes);             \
    }
LONG_CHAIN(long_chain_wide, WIDE, WIDE_ARCS)
LONG_CHAIN(long_chain_coded, CODED, CODED_ARCS)

#define GATHER(NAME, ITEM)                                                                                         \
    LONG NAME(const Tile* tiles, const u32* policy, const u32* row_starts, u32 n_rows, u32 n_passes,              \
              const double* rewards, const u32* targets, const ITEM* items, u16* ends, double* chosen_rewards,    \
              u32* chosen_targets, ITEM* chosen_items) {                                                           \
        gather(tiles, policy, row_starts, n_rows, n_passes, rewards, targets, items, ends, chosen_rewards,         \
               chosen_targets, chosen_items);                                                                      \
    }
GATHER(gather_wide, double)
GATHER(gather_coded, u8)
