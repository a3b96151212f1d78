//! Zstandard streams: consecutive frames, each verified if it has a checksum.

use ruzstd::decoding::BlockDecodingStrategy;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::io::{self, BufRead, Read};

/// Uncompresses a stream of frames.
pub(crate) struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    is_open: bool,
}

impl<R: BufRead> Zstd<R> {
    pub fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_open: false }
    }

    /// Begins the next frame, if there is one. Frames that hold no data are skipped.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.failed(&error)),
            }
        }
    }

    /// A failure at the end of the source means a truncated file.
    fn failed(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            _ => io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {error}")),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                if !self.begin()? {
                    return Ok(0);
                }
                self.is_open = true;
            }
            while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBytes(buffer.len() - self.decoder.can_collect());
                if let Err(error) = self.decoder.decode_blocks(&mut self.source, strategy) {
                    return Err(self.failed(&error));
                }
            }
            let n = self.decoder.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            let stored = self.decoder.get_checksum_from_data();
            if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "zstd: the checksum does not match the data",
                ));
            }
            self.is_open = false;
        }
    }
}
