//! The only calls of the driver, and the only unsafe ones.
//!
//! Why they are sound. The driver's library is looked for before the first call, and its version is checked before any function
//! that old drivers lack. Memory on the card is a `CudaSlice`, which knows its length and frees itself; uninitialized memory is
//! written before it is read: `upload` fills all of it. All work goes to one stream, in the order of the calls. A kernel reads and
//! writes memory of the card only, through the pointers of slices that the caller of [`DriverDevice::launch`] borrows meanwhile; its
//! indices come from a `Layout`, which was checked against the model. Should a kernel be wrong all the same, the driver reports
//! an error or values are wrong, and values are only a proposal: every bit pattern is a valid `f64`, and the processor checks them.
#![allow(unsafe_code)]

use crate::layout::Tile;
use crate::parallel::fill;
use crate::{Error, MIN_DRIVER, Result};
use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
    PinnedHostSlice, ValidAsZeroBits, result,
};
use cudarc::nvrtc::Ptx;
use std::ffi::c_void;
use std::sync::Arc;

// SAFETY: `repr(C)` with fields of type u32 only.
unsafe impl DeviceRepr for Tile {}
// SAFETY: as above; 0 is a valid u32.
unsafe impl ValidAsZeroBits for Tile {}

/// Larger arrays are copied through pinned memory, which the card reads by itself.
const PIECE_BYTES: usize = 64 << 20;

/// A number that can be copied to the card.
pub(crate) trait Plain: DeviceRepr + ValidAsZeroBits + Copy + Send + Sync {}
impl<T: DeviceRepr + ValidAsZeroBits + Copy + Send + Sync> Plain for T {}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    Pointer(u64),
    Count(u32),
    Number(f64),
}

/// One card with the kernels loaded.
pub(crate) struct DriverDevice {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
}

impl DriverDevice {
    /// Opens the first card.
    pub fn open(ptx: &str) -> Result<Self> {
        // SAFETY: looks for a library of a fixed name; loading it runs its initializers, as any use of the driver does.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        let mut version = 0;
        // SAFETY: the pointer is valid for a write, and every driver has this function, which needs no initialization.
        let found = unsafe { sys::cuDriverGetVersion(&raw mut version) };
        if found != CUresult::CUDA_SUCCESS {
            return Err(Error::Driver(format!("{found:?}")));
        }
        if version < MIN_DRIVER {
            return Err(Error::OldDriver { found: version });
        }
        let no_card = [CUresult::CUDA_ERROR_NO_DEVICE, CUresult::CUDA_ERROR_INVALID_DEVICE];
        let context = CudaContext::new(0)
            .map_err(|error| if no_card.contains(&error.0) { Error::NoCard } else { Error::from(error) })?;
        let found = context.compute_capability()?;
        if found < (7, 0) {
            return Err(Error::OldCard { card: context.name()?, found });
        }
        let old = [CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION];
        let module = context.load_module(Ptx::from_src(ptx)).map_err(|error| {
            if old.contains(&error.0) { Error::OldDriver { found: version } } else { Error::from(error) }
        })?;
        Ok(Self { stream: context.default_stream(), context, module })
    }

    pub fn name(&self) -> Result<String> {
        Ok(self.context.name()?)
    }

    /// The number of its multiprocessors; each runs a few blocks at a time.
    pub fn multiprocessors(&self) -> Result<usize> {
        let count = self.context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(usize::try_from(count).unwrap_or(1).max(1))
    }

    /// The free bytes of its memory.
    pub fn free_memory(&self) -> Result<usize> {
        // What was freed before counts only then.
        self.stream.synchronize()?;
        Ok(self.context.mem_get_info()?.0)
    }

    pub fn function(&self, name: &str) -> Result<CudaFunction> {
        Ok(self.module.load_function(name)?)
    }

    /// A copy on the card.
    pub fn upload<T: Plain>(&self, items: &[T], threads: usize) -> Result<CudaSlice<T>> {
        // SAFETY: all of it is written below before anything can read it; one item is left over if there are none, which no
        // kernel reads.
        let mut copy = unsafe { self.stream.alloc::<T>(items.len().max(1)) }?;
        let size = PIECE_BYTES / size_of::<T>();
        let mut done = 0;
        if items.len() >= 4 * size {
            // SAFETY: written in full below before it is read.
            let pinned = || unsafe { self.context.alloc_pinned_with_flags::<T>(size, 0) };
            let mut buffers: [PinnedHostSlice<T>; 2] = [pinned()?, pinned()?];
            for (i, piece) in items.chunks_exact(size).enumerate() {
                // Waits until the card has read what was in it.
                let buffer = &mut buffers[i % 2];
                fill(buffer.as_mut_slice()?, size / 64, threads, |first, part| {
                    part.copy_from_slice(&piece[first..first + part.len()]);
                });
                self.stream.memcpy_htod(buffer, &mut copy.slice_mut(done..done + size))?;
                done += size;
            }
            self.stream.synchronize()?;
        }
        if done < items.len() {
            self.stream.memcpy_htod(&items[done..], &mut copy.slice_mut(done..items.len()))?;
        }
        self.stream.synchronize()?;
        Ok(copy)
    }

    /// Memory full of zeros.
    pub fn zeros<T: Plain>(&self, n: usize) -> Result<CudaSlice<T>> {
        Ok(self.stream.alloc_zeros(n.max(1))?)
    }

    /// A copy of the first items on the processor's side, after all work before it.
    pub fn download<T: Plain>(&self, slice: &CudaSlice<T>, zero: T, n: usize) -> Result<Vec<T>> {
        let mut items = vec![zero; n];
        if n > 0 {
            self.stream.memcpy_dtoh(&slice.slice(0..n), &mut items)?;
        }
        self.stream.synchronize()?;
        Ok(items)
    }

    /// Copies within the card's memory.
    pub fn copy(&self, from: &CudaSlice<f64>, to: &mut CudaSlice<f64>) -> Result<()> {
        Ok(self.stream.memcpy_dtod(from, to)?)
    }

    /// Sets all of it to zero.
    pub fn clear(&self, slice: &mut CudaSlice<u32>) -> Result<()> {
        Ok(self.stream.memset_zeros(slice)?)
    }

    /// Waits for all work.
    pub fn wait(&self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }

    /// The address of a slice on the card.
    pub fn pointer<T>(&self, slice: &CudaSlice<T>) -> Argument {
        Argument::Pointer(slice.device_ptr(&self.stream).0)
    }

    /// Starts a kernel after all work before it; nothing if there are no blocks.
    pub fn launch(
        &self,
        kernel: &CudaFunction,
        blocks: usize,
        threads: u32,
        arguments: &[Argument],
    ) -> Result<()> {
        if blocks == 0 {
            return Ok(());
        }
        let blocks = u32::try_from(blocks)
            .ok()
            .filter(|blocks| *blocks < 1 << 31)
            .ok_or(Error::Model("the model is too large for one launch on the card"))?;
        self.context.bind_to_thread()?;
        let mut pointers: Vec<*mut c_void> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Pointer(address) => std::ptr::from_ref(address).cast_mut().cast(),
                Argument::Count(count) => std::ptr::from_ref(count).cast_mut().cast(),
                Argument::Number(number) => std::ptr::from_ref(number).cast_mut().cast(),
            })
            .collect();
        // SAFETY: the driver copies the arguments, which live until the call returns, before it returns; their number and types
        // are those of the kernel in `kernels/sweep.cu`. For the rest see the top of this file.
        unsafe {
            result::launch_kernel(
                kernel.cu_function(),
                (blocks, 1, 1),
                (threads, 1, 1),
                0,
                self.stream.cu_stream(),
                &mut pointers,
            )
        }?;
        Ok(())
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        let text = error.error_string().ok().and_then(|text| text.to_str().ok()).unwrap_or("no description");
        Self::Driver(format!("{text} ({:?})", error.0))
    }
}
