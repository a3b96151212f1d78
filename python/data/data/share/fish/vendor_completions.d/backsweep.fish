# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_backsweep_global_optspecs
    string join \n h/help V/version
end

function __fish_backsweep_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_backsweep_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_backsweep_using_subcommand
    set -l cmd (__fish_backsweep_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c backsweep -n "__fish_backsweep_needs_command" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_needs_command" -s V -l version -d 'Print version'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "watch" -d 'Watch an agent learn, in the browser, in the terminal or as a picture'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "explore" -d 'Benchmark exploration: run agents on a suite of environments'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "solve" -d 'Solve a known model: a policy, and a proven interval for the value of each state'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "verify" -d 'Check a result of \'solve\' against its model: bounds, tolerance and policy'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "convert" -d 'Convert a model from one format to another'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "learn" -d 'Learn a policy from logged decisions and estimate its value from held-out data'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "decide" -d 'Decide with a learned policy, for one state or for rows of JSON from standard input'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "count" -d 'Count the transitions and rewards in a log of decisions'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "counts" -d 'Merge, subtract or show files of counts'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "reproduce" -d 'Reproduce the paper: run its experiments, draw its figures and say which claims hold'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "run" -d 'Run one experiment: a file of your own, or a built-in one by its name'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "merge" -d 'Merge the results of --shard runs into one folder'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "bench" -d 'Benchmark the planners (or, with --solve, the solver)'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "man" -d 'Write the manual pages'
complete -c backsweep -n "__fish_backsweep_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l planner -d 'Planner: reversed_full_backups, small_backups, moore_atkeson, peng_williams, wiering_schmidhuber or value_iteration' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l race -d 'A second planner that learns alongside the first from the same random numbers' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l equal -d 'The resource that both planners in a race receive equally' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l explore -d 'The way the agent explores: paper (ε and M), epsilon_greedy, optimism, count_bonus:β, variance_bonus:c, bayes_bonus:β, achievable_bonus:β or posterior_sampling:prior' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l forget -d 'The way the agent forgets: never, half_life:STEPS, window:OBSERVATIONS or per_visit:FACTOR' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l race-explore -d 'The way the second planner of a race explores [default: like the first]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l race-forget -d 'The way the second planner of a race forgets [default: like the first]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l cycles -d 'Update cycles after every step' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l epsilon -d 'Probability of a random action' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l min-visits -d 'M: a pair is treated as worth 0 until tried M times' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l discount -d 'Discount [default: 0.99, or that of --world]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l seed -d 'Seed of the random numbers' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l law -d 'Outcome law: fifteen (up to 15 outcomes) or four (the four neighbors)' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l intended -d 'Probability of the intended neighbor, with --law four' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l maze -d 'Maze file (\'#\' wall, \'.\' or an inner space free, \'S\' start, \'G\' goal, others with a reward below the maze, as in \'~ = -5\') [default: the paper\'s maze]' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l world -d 'World of the exploration suite, by its own rules: cliff_walking, frozen_lake_8x8, deep_sea_20, blocking_maze, shortcut_maze, …' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l speed -d 'Steps per second, or \'max\'' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l port -d 'Port of the page; 0 is any free one [default: 8213, or the next free one]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l host -d 'Address to listen on; anything but 127.0.0.1 may let other machines watch and control' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l allow-host -d 'Additional `Host` header to accept (may be repeated)' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l record -d 'Write a picture (PNG) instead, after --after episodes' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l export -d 'Write one self-contained page with a recorded run instead: it opens from disk, without a server' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l after -d 'The number of episodes after which --record draws, and --export and --terminal end' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l paused -d 'Start paused'
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l open -d 'Open the page in the browser'
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l terminal -d 'Draw in the terminal instead'
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -l light -d 'Draw a light picture, with --record'
complete -c backsweep -n "__fish_backsweep_using_subcommand watch" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l suite -d 'The built-in suite: explore, explore-settings (the default beside seven settings) or explore-tuning (where it is chosen)' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l world -d 'Run only this world, such as chain or deep_sea_20; may be given several times' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l agent -d 'Run only this agent, such as default; may be given several times' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l out -d 'Folder for results; a stopped command resumes in the same folder' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l runs -d 'Runs per setting, overriding the experiment' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l seed -d 'Seed, overriding the experiment' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l threads -d 'Number of threads; results do not depend on it [default: all cores]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l only -d 'Run only settings whose name contains this path, such as fig3/moore_atkeson/5, finished ones included' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l shard -d 'Run only part I of N (I from 0 to N - 1); \'backsweep merge\' joins the parts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l quick -d 'Fewer runs for the same figures'
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l list -d 'Print the names of the settings without running them'
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l json -d 'Print the summary as a JSON array'
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -l verbose -d 'Print every claim with its numbers, and each setting as it is done'
complete -c backsweep -n "__fish_backsweep_using_subcommand explore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l reach -d 'The probability of reaching a state with this label' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l avoid -d 'With --reach: without passing through states with this label' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l reward -d 'The rewards to add up, by name; not needed if the model has only one reward structure. \'steps\' counts 1 per step in any model' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l until -d 'The expected total reward until a state with this label; infinite if it may never be reached' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l discount -d 'The expected discounted reward, with this discount from 0 to 1; 1 is the total until the episode ends' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l horizon -d 'Only the first N steps: with --reach the probability within them, otherwise their expected reward' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l tolerance -d 'The largest accepted distance of a value from the truth [default: 1e-6, or a relative 1e-9 where that is more]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l relative -d 'The same relative to the size of the value; with --tolerance, whichever is met' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l method -d 'Use this method instead of choosing one. With a discount: backward, elimination, outward, simultaneous, in-place, krylov or components; otherwise elimination or sweeps' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l device -d 'The device that computes discounted values: cpu, cuda (an NVIDIA card) or auto (a card where it is there and worth it). Intervals are proven by the processor in any case' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l time-limit -d 'Stop after this time, not counting reading the model: 10s, 500ms, 2m, 1h' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l at -d 'Only this state matters: solve what can be reached from it' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l threads -d 'The number of threads [default: all cores]; results do not depend on it' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l policy -d 'Write the policy to this file: a table of state,action or, if it ends in .h, a C header with a table and a function' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l values -d 'Write values and intervals to this file: state,value,lower,upper' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l out -d 'With --json: write the JSON to this file, and the table to standard output' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l evaluate -d 'Judge this policy instead: a table of state,action or state,action,probability, as --policy writes it' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l changes -d 'After solving, change the model as this table says, repair the values and print what changes' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l watch -d 'After solving, keep the answer up to date: read changes from standard input, or from a file that grows or is rewritten' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l format -d 'The format of MODEL, if its extension does not say: umb, drn, tra, csv or backsweep' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l average -d 'The expected reward per step in the long run'
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l minimize -d 'Compute the smallest values that a policy attains, not the largest'
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l explain -d 'Print which methods were chosen and why'
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l stream -d 'Leave the model on disk and hold only values in memory: for discounted models in uncompressed UMB files that are larger than memory'
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -l json -d 'Print the result as JSON, which \'backsweep verify\' checks'
complete -c backsweep -n "__fish_backsweep_using_subcommand solve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand verify" -l format -d 'The format of MODEL, if its extension does not say: umb, drn, tra, csv or backsweep' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand convert" -l format -d 'The format of FROM, if its extension does not say: umb, drn, tra, csv or backsweep' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand convert" -l to -d 'The format of TO, if its extension does not say: umb, drn, tra or csv' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand convert" -l uncompressed -d 'Do not compress a .umb file: larger, but faster to read and write'
complete -c backsweep -n "__fish_backsweep_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l sql -d 'Read the rows of this query in place of files; needs --db' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l db -d 'The database of --sql: a file of DuckDB (read by duckdb or Python\'s duckdb) or postgres://… (read by psql)' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l where -d 'Read only rows that meet this condition, such as \'channel = Internet\' or \'amount >= 500\'; may be given several times' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l case -d 'The column that identifies the case' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l order -d 'The column that orders the rows of a case, numbers or dates; without it, rows are taken in file order' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l ties -d 'The treatment of rows of a case that have the same order' -r -f -a "refuse\t'They make the log bad: it is unknown which came first'
file\t'They are in file order'"
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l state -d 'The columns that make up the state. Numbers are cut at edges (sofa:0|5|10), into quantiles (age:q4), or into zero and quantiles of the rest (dose:0q4). \'prev(activity)\' is the value in the previous row, \'elapsed(hours)\' the time since the case began' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l action -d 'The columns that make up the action, cut like those of the state' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l reward -d 'The column of rewards: the result of the action in the same row; \'-cost\' for costs. \'elapsed(hours)\' is the time until the next row' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l final -d 'The reward at the end of a case, by a column of its last row: outcome=survived:1,died:0' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l next-state -d 'The columns that make up the next state, if a row is a whole transition' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l ended-by -d 'The column that says whether a row ended its case; cases without such a row were cut. By default the last row of a case ends it' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l truncated -d 'The column that says whether a case was cut, for instance by a time limit' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l propensity -d 'The column with the probability with which the logged action was taken; \'learn\' uses it in place of the shares in the log' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l reward-unit -d 'Rewards must be multiples of this' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l missing -d 'The name to use for an empty value of a state or action; without it, such a row is bad' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l skip-bad -d 'Skip bad rows, and their whole cases, if they are at most this share of the log, such as 1%' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l bins-from -d 'Take the edges of bins, and any settings not given, from a file of counts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l threads -d 'Threads [default: one per core]; results do not depend on it' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l discount -d 'The factor by which a reward one step later counts, above 0 and at most 1' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l min-count -d 'Consider an action in a state only if it was logged there at least this often' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l pessimism -d 'Plan as if an action seen n times paid κ/√n less' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l hold-out -d 'The share of cases held out to test the policy, rounded to a multiple of 1/16; or those that began last: \'last 20%\'' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l hold-out-after -d 'Hold out the cases that began on this date or later' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l hold-out-by -d 'Hold out whole groups of cases, by the value of this column, such as a hospital' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l by -d 'Also state the gain for each value of this column, such as a channel; its value in the first row of a case counts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l unit -d 'The unit of returns, for sentences in the report, such as days' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l out -d 'The folder for report.html and policy.csv' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l agent -d 'Also write an agent that can continue learning; \'backsweep solve\' and Python\'s Agent.load read it' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l file-order -d 'Rows are in file order: guess no column that orders them'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l cut -d 'No case ended: the log stops in the middle of all of them'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l round-rewards -d 'Round rewards to multiples of --reward-unit'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l strict -d 'Refuse a log with any warning'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l unterminated -d 'Accept CSV files whose last line has no line break'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l dry-run -d 'Show how the log is read and its first steps, and write nothing'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l counts -d 'LOG names files of counts, as \'backsweep count\' writes them'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l keep-logged -d 'Actions below the minimum keep their logged probability; only the rest is decided (Πb-SPIBB)'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l overwrite -d 'Replace the report and policy in the folder'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -l json -d 'Print the summary as JSON'
complete -c backsweep -n "__fish_backsweep_using_subcommand learn" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand decide" -l state -d 'The state, by its columns (ward=A,sofa=7) or by its name (A|5..10); without it, rows are read from standard input' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand decide" -l seed -d 'The seed of the draws where several actions have a probability [default: a fresh one]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand decide" -l log -d 'Append every answer to this file; \'backsweep learn --propensity propensity\' reads it' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand decide" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l sql -d 'Read the rows of this query in place of files; needs --db' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l db -d 'The database of --sql: a file of DuckDB (read by duckdb or Python\'s duckdb) or postgres://… (read by psql)' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l where -d 'Read only rows that meet this condition, such as \'channel = Internet\' or \'amount >= 500\'; may be given several times' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l case -d 'The column that identifies the case' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l order -d 'The column that orders the rows of a case, numbers or dates; without it, rows are taken in file order' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l ties -d 'The treatment of rows of a case that have the same order' -r -f -a "refuse\t'They make the log bad: it is unknown which came first'
file\t'They are in file order'"
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l state -d 'The columns that make up the state. Numbers are cut at edges (sofa:0|5|10), into quantiles (age:q4), or into zero and quantiles of the rest (dose:0q4). \'prev(activity)\' is the value in the previous row, \'elapsed(hours)\' the time since the case began' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l action -d 'The columns that make up the action, cut like those of the state' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l reward -d 'The column of rewards: the result of the action in the same row; \'-cost\' for costs. \'elapsed(hours)\' is the time until the next row' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l final -d 'The reward at the end of a case, by a column of its last row: outcome=survived:1,died:0' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l next-state -d 'The columns that make up the next state, if a row is a whole transition' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l ended-by -d 'The column that says whether a row ended its case; cases without such a row were cut. By default the last row of a case ends it' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l truncated -d 'The column that says whether a case was cut, for instance by a time limit' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l propensity -d 'The column with the probability with which the logged action was taken; \'learn\' uses it in place of the shares in the log' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l reward-unit -d 'Rewards must be multiples of this' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l missing -d 'The name to use for an empty value of a state or action; without it, such a row is bad' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l skip-bad -d 'Skip bad rows, and their whole cases, if they are at most this share of the log, such as 1%' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l bins-from -d 'Take the edges of bins, and any settings not given, from a file of counts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l threads -d 'Threads [default: one per core]; results do not depend on it' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l out -d 'The file of counts to write: .csv, or .parquet in a build with that feature' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l file-order -d 'Rows are in file order: guess no column that orders them'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l cut -d 'No case ended: the log stops in the middle of all of them'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l round-rewards -d 'Round rewards to multiples of --reward-unit'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l strict -d 'Refuse a log with any warning'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l unterminated -d 'Accept CSV files whose last line has no line break'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l dry-run -d 'Show how the log is read and its first steps, and write nothing'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -l json -d 'Print the summary as JSON'
complete -c backsweep -n "__fish_backsweep_using_subcommand count" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and not __fish_seen_subcommand_from merge subtract show help" -l reward-unit -d 'The reward that a reward_sum of 1 stands for, in files that do not say so' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and not __fish_seen_subcommand_from merge subtract show help" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and not __fish_seen_subcommand_from merge subtract show help" -f -a "merge" -d 'Merge the counts of several logs, bit for bit as if they had been one log'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and not __fish_seen_subcommand_from merge subtract show help" -f -a "subtract" -d 'Subtract the counts of a part, such as a case to erase, bit for bit as if it had never been counted'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and not __fish_seen_subcommand_from merge subtract show help" -f -a "show" -d 'Show the contents of each file of counts'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and not __fish_seen_subcommand_from merge subtract show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from merge" -l out -d 'The file to write, .csv or .parquet' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from merge" -l reward-unit -d 'The reward that a reward_sum of 1 stands for, in files that do not say so' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from merge" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from subtract" -l out -d 'The file to write, .csv or .parquet' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from subtract" -l reward-unit -d 'The reward that a reward_sum of 1 stands for, in files that do not say so' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from subtract" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from show" -l rows -d 'The number of rows to print' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from show" -l reward-unit -d 'The reward that a reward_sum of 1 stands for, in files that do not say so' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from help" -f -a "merge" -d 'Merge the counts of several logs, bit for bit as if they had been one log'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from help" -f -a "subtract" -d 'Subtract the counts of a part, such as a case to erase, bit for bit as if it had never been counted'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the contents of each file of counts'
complete -c backsweep -n "__fish_backsweep_using_subcommand counts; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l out -d 'Folder for results; a stopped command resumes in the same folder' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l runs -d 'Runs per setting, overriding the experiment' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l seed -d 'Seed, overriding the experiment' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l threads -d 'Number of threads; results do not depend on it [default: all cores]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l only -d 'Run only settings whose name contains this path, such as fig3/moore_atkeson/5, finished ones included' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l shard -d 'Run only part I of N (I from 0 to N - 1); \'backsweep merge\' joins the parts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l quick -d 'Fewer runs for the same figures'
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l list -d 'Print the names of the settings without running them'
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l json -d 'Print the summary as a JSON array'
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -l verbose -d 'Print every claim with its numbers, and each setting as it is done'
complete -c backsweep -n "__fish_backsweep_using_subcommand reproduce" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l out -d 'Folder for results; a stopped command resumes in the same folder' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l runs -d 'Runs per setting, overriding the experiment' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l seed -d 'Seed, overriding the experiment' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l threads -d 'Number of threads; results do not depend on it [default: all cores]' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l only -d 'Run only settings whose name contains this path, such as fig3/moore_atkeson/5, finished ones included' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l shard -d 'Run only part I of N (I from 0 to N - 1); \'backsweep merge\' joins the parts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l quick -d 'Fewer runs for the same figures'
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l list -d 'Print the names of the settings without running them'
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l json -d 'Print the summary as a JSON array'
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -l verbose -d 'Print every claim with its numbers, and each setting as it is done'
complete -c backsweep -n "__fish_backsweep_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand merge" -l out -d 'Folder for the merged results' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand merge" -l json -d 'Print the summary as a JSON array'
complete -c backsweep -n "__fish_backsweep_using_subcommand merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l planner -d 'Planners to measure: names, or \'all\'; \'reversed\' stands for reversed_full_backups, \'small\' for small_backups' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l queue -d 'Queues to measure: exact, bucket' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l side -d 'Cells of one side of the grid' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l observations -d 'Observations' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l cycles -d 'Update cycles after every observation' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l afterwards -d 'Learn without planning, then time only this many update cycles; counts and times are those of the cycles' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l threshold -d 'Priorities at or below this value are not queued' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l seed -d 'The seed of the observations' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l repeat -d 'Measure everything this many times, interleaved, and report the fastest' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l deadline -d 'Measure how well planning calls keep this time budget (100us, 1ms) instead, on a state with many predecessors' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l hub -d 'Predecessors of the state in the deadline measurement' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l calls -d 'Planning calls of the deadline measurement' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l cases -d 'With --solve: run only these cases, such as maze500,garnet100k,walls' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l runs -d 'With --solve: solve every model this many times; the fastest counts' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l model -d 'With --solve: measure this model instead, with --discount' -r -F
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l discount -d 'The discount of --model, from 0 to below 1' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l format -d 'The format of --model, if its extension does not say: umb, drn, tra, csv or backsweep' -r
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l scattered -d 'Start every step in a random state instead of where the last one led, for grids too large for a walk'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l no-reference -d 'Omit the plain reference and the floor'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l no-rmse -d 'Omit the error against the fixed point, which takes a long time to compute on large grids'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l json -d 'Write JSON'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l solve -d 'Measure how fast known models are solved and repaired instead: CPU seconds on one thread, at tolerance 1e-4'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l large -d 'With --solve: also run the two models of 10 million states and 100 million arcs (3 GB, minutes)'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -l minimize -d 'With --model: the rewards are costs to minimize'
complete -c backsweep -n "__fish_backsweep_using_subcommand bench" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand completions" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand man" -s h -l help -d 'Print help'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "watch" -d 'Watch an agent learn, in the browser, in the terminal or as a picture'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "explore" -d 'Benchmark exploration: run agents on a suite of environments'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "solve" -d 'Solve a known model: a policy, and a proven interval for the value of each state'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "verify" -d 'Check a result of \'solve\' against its model: bounds, tolerance and policy'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "convert" -d 'Convert a model from one format to another'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "learn" -d 'Learn a policy from logged decisions and estimate its value from held-out data'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "decide" -d 'Decide with a learned policy, for one state or for rows of JSON from standard input'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "count" -d 'Count the transitions and rewards in a log of decisions'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "counts" -d 'Merge, subtract or show files of counts'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "reproduce" -d 'Reproduce the paper: run its experiments, draw its figures and say which claims hold'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "run" -d 'Run one experiment: a file of your own, or a built-in one by its name'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "merge" -d 'Merge the results of --shard runs into one folder'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "bench" -d 'Benchmark the planners (or, with --solve, the solver)'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "man" -d 'Write the manual pages'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and not __fish_seen_subcommand_from watch explore solve verify convert learn decide count counts reproduce run merge bench completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and __fish_seen_subcommand_from counts" -f -a "merge" -d 'Merge the counts of several logs, bit for bit as if they had been one log'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and __fish_seen_subcommand_from counts" -f -a "subtract" -d 'Subtract the counts of a part, such as a case to erase, bit for bit as if it had never been counted'
complete -c backsweep -n "__fish_backsweep_using_subcommand help; and __fish_seen_subcommand_from counts" -f -a "show" -d 'Show the contents of each file of counts'
