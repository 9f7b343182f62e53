//! Reads an image in bounded memory: header and signatures, then verification, then the content.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};

use super::{ImageFault, ImageHeader, KeyId, SIGNATURE_BYTES_MAX, Signature, VerifyingKey};

/// Bytes per read.
const CHUNK: usize = 64 * 1024;

/// An image with parsed header and signatures.
#[derive(Debug)]
pub struct Image<R> {
    head: ImageHeader,
    signatures: Vec<Signature>,
    reader: R,
}

impl<R: Read + Seek> Image<R> {
    /// Reads header and signatures; neither is trustworthy before [`Image::verify`] and [`Image::unpack`].
    ///
    /// # Errors
    /// It is not an image, or incomplete.
    pub fn open(mut reader: R) -> Result<Image<R>, ImageFault> {
        let length = reader.seek(SeekFrom::End(0))?;
        reader.rewind()?;
        let mut bytes = [0; ImageHeader::BYTES];
        let have = fill(&mut reader, &mut bytes)?;
        if have < ImageHeader::BYTES {
            return Err(if have == 0 || bytes[0] != 0x89 {
                ImageFault::Stranger
            } else {
                ImageFault::CutOff {
                    have: length,
                    wanted: ImageHeader::BYTES as u64,
                }
            });
        }
        let head = ImageHeader::decode(&bytes)?;
        let wanted = head.signed_bytes();
        let rest = length.checked_sub(wanted).ok_or(ImageFault::CutOff {
            have: length,
            wanted,
        })?;
        if rest > SIGNATURE_BYTES_MAX {
            return Err(ImageFault::Signatures("too long"));
        }
        reader.seek(SeekFrom::Start(wanted))?;
        let mut behind = Vec::new();
        reader.by_ref().take(rest).read_to_end(&mut behind)?;
        Ok(Image {
            signatures: Signature::parse_all(&behind)?,
            head,
            reader,
        })
    }

    pub fn head(&self) -> &ImageHeader {
        &self.head
    }

    /// The signatures, not verified.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Checks that one of these keys signed header and payload; returns the key.
    ///
    /// # Errors
    /// None did, or the payload cannot be read.
    pub fn verify(&mut self, keys: &[VerifyingKey]) -> Result<KeyId, ImageFault> {
        if self.signatures.is_empty() {
            return Err(ImageFault::Unsigned);
        }
        let mut verifiers: Vec<_> = self
            .signatures
            .iter()
            .flat_map(|signature| keys.iter().map(move |key| (key, signature)))
            .filter(|(key, signature)| key.id() == signature.key_id())
            .filter_map(|(key, signature)| {
                let verifier = key.key.verify_stream(&signature.signature).ok()?;
                Some((key.id(), verifier))
            })
            .collect();
        let Some(first) = verifiers.first().map(|(id, _)| *id) else {
            let signed = self.signatures.iter().map(Signature::key_id).collect();
            return Err(ImageFault::Untrusted(signed));
        };
        // The decoded header, encoded again, so that no unsigned byte is used.
        let head = self.head.encode()?;
        for (_, verifier) in &mut verifiers {
            verifier.update(&head);
        }
        each_chunk(&mut self.reader, &self.head, |chunk| {
            for (_, verifier) in &mut verifiers {
                verifier.update(chunk);
            }
        })?;
        verifiers
            .into_iter()
            .find_map(|(id, mut verifier)| verifier.finalize().is_ok().then_some(id))
            .ok_or(ImageFault::Forged(first))
    }

    /// Checks the payload and writes the content.
    ///
    /// # Errors
    /// Payload or content do not match the header, or cannot be read or written; the output is then unusable.
    pub fn unpack(&mut self, into: &mut impl Write) -> Result<(), ImageFault> {
        let mut hasher = Sha256::new();
        each_chunk(&mut self.reader, &self.head, |chunk| hasher.update(chunk))?;
        if hasher.finalize()[..] != self.head.payload_digest {
            return Err(ImageFault::Payload("digest"));
        }
        self.reader
            .seek(SeekFrom::Start(ImageHeader::BYTES as u64))?;
        let payload = self.reader.by_ref().take(self.head.payload_bytes);
        let mut decoder = GzDecoder::new(BufReader::with_capacity(CHUNK, payload));
        let mut hasher = Sha256::new();
        let mut left = self.head.content_bytes;
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = decoder.read(&mut chunk).map_err(packed_wrongly)?;
            if read == 0 {
                break;
            }
            left = left.checked_sub(read as u64).ok_or(ImageFault::Payload(
                "it unpacks to more than its header says",
            ))?;
            hasher.update(&chunk[..read]);
            into.write_all(&chunk[..read])?;
        }
        if left > 0 {
            return Err(ImageFault::Payload(
                "it unpacks to less than its header says",
            ));
        }
        if !decoder.into_inner().fill_buf()?.is_empty() {
            return Err(ImageFault::Payload("something follows what is packed"));
        }
        if hasher.finalize()[..] != self.head.content_digest {
            return Err(ImageFault::Payload("digest of the content"));
        }
        Ok(())
    }

    pub fn into_inner(self) -> R {
        self.reader
    }
}

fn each_chunk(
    reader: &mut (impl Read + Seek),
    head: &ImageHeader,
    mut look: impl FnMut(&[u8]),
) -> Result<(), ImageFault> {
    let wanted = head.signed_bytes();
    let mut left = head.payload_bytes;
    let mut chunk = vec![0; CHUNK];
    reader.seek(SeekFrom::Start(ImageHeader::BYTES as u64))?;
    while left > 0 {
        let part = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        let read = fill(reader, &mut chunk[..part])?;
        if read < part {
            let have = wanted - left + read as u64;
            return Err(ImageFault::CutOff { have, wanted });
        }
        look(&chunk[..part]);
        left -= part as u64;
    }
    Ok(())
}

/// Reads until the buffer is full or the input ends.
fn fill(reader: &mut impl Read, mut into: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while !into.is_empty() {
        match reader.read(into) {
            Ok(0) => break,
            Ok(count) => {
                read += count;
                into = &mut into[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Distinguishes a damaged payload from a read error.
fn packed_wrongly(error: io::Error) -> ImageFault {
    const PACKED_WRONGLY: [io::ErrorKind; 3] = [
        io::ErrorKind::InvalidInput,
        io::ErrorKind::InvalidData,
        io::ErrorKind::UnexpectedEof,
    ];
    if PACKED_WRONGLY.contains(&error.kind()) {
        ImageFault::Payload("it is not gzip")
    } else {
        ImageFault::Io(error)
    }
}
