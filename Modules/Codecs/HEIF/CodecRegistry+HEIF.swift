#if HEIF
    public import AlcedoCore

    extension CodecRegistry.Entry {
        /// Returns the codec of HEIF with another decoder, which usually runs ``heifInProcess`` in a worker process.
        ///
        /// ```text
        /// let codecs = CodecRegistry.standard.adding(.heif(decodedBy: SandboxedDecoder(.heif, in: sandbox)))
        /// ```
        ///
        /// The format is recognized by the brands of HEVC among the first 64 bytes, or by the general brands `mif1` and
        /// `msf1` in a list that has no brand of AVIF. It has no encoder.
        ///
        /// - Parameter decoder: The decoder of the format.
        public static func heif(decodedBy decoder: any ImageDecoding) -> Self {
            Self(
                format: .heif, decoder: decoder, signatures: HEIFBrands.signatures, recognizes: HEIFBrands.recognizes)
        }

        /// The codec of HEIF in the process of the caller, with a time limit of 30 seconds. See
        /// ``heifInProcess(timeLimit:)``.
        public static var heifInProcess: Self { heifInProcess(timeLimit: HEIFDecoder.defaultTimeLimit) }

        /// Returns the codec of HEIF with the decoder that runs libde265 in the process of the caller: still images
        /// coded with HEVC, and the first frame of sequences.
        ///
        /// ```swift
        /// let codecs = CodecRegistry.standard.adding(.heifInProcess(timeLimit: .seconds(5)))
        /// let image = try codecs.decode(data)
        /// ```
        ///
        /// Decoders of HEVC have a long record of memory errors that files can exploit. Use this codec directly only
        /// for files of known origin. For others, pass it to the workers of a sandbox, and use ``heif(decodedBy:)`` in
        /// the app. See the page of the module.
        ///
        /// The image is cropped, rotated and mirrored as the file states. The orientation in EXIF is ignored, as the
        /// format requires. The result is straight RGBA8, also when the file stores premultiplied color. It is RGBA16
        /// for files with 9 to 12 bits when the options request it. A target size averages pixels while rows of tiles
        /// are decoded.
        ///
        /// Missing or unusable metadata, a missing end of the file after the pixels, and items outside of the file that
        /// are not needed are harmless damage. So is alpha that is outside of the file or cannot be decoded: the image
        /// is opaque from the first damaged row on. A coded picture or tile that libde265 rejects means missing pixels,
        /// from its row of tiles on. The format has no checksums, so wrong samples are usually not detected. A gain map
        /// that is requested and cannot be used is harmless damage, too. Depth is not read, and thumbnails only for
        /// previews.
        ///
        /// - Parameter timeLimit: The maximum time that libde265 may take for one image, and for each preview. After
        ///   it, decoding throws `timedOut` before the next slice or tile.
        public static func heifInProcess(timeLimit: Duration) -> Self {
            heif(decodedBy: HEIFDecoder(timeLimit: timeLimit))
        }
    }

    extension ImageFormat {
        /// High Efficiency Image File Format with HEVC, also known as HEIC.
        public static let heif = ImageFormat(rawValue: "heif")
    }

    /// The brands at the beginning of a file. Sources: ISO/IEC 23008-12, section 10 and annex B.4.
    private enum HEIFBrands {
        private static let coded: [[UInt8]] = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"].map {
            Array($0.utf8)
        }
        private static let general: [[UInt8]] = ["mif1", "msf1"].map { Array($0.utf8) }
        private static let foreign: [[UInt8]] = ["avif", "avis"].map { Array($0.utf8) }

        /// The beginnings of files: the first box with a brand as the major brand, or as one of the compatible brands
        /// after the version.
        static var signatures: [[UInt8?]] {
            let positions = [8] + Array(stride(from: 16, to: CodecRegistry.sniffedByteCount - 3, by: 4))
            return (coded + general).flatMap { name in
                positions.map { position in
                    var bytes = [UInt8?](repeating: nil, count: position)
                    bytes.replaceSubrange(4..<8, with: "ftyp".utf8.map { $0 })
                    return bytes + name.map { $0 }
                }
            }
        }

        /// Returns whether the first box lists a brand of HEIF within the bytes.
        @Sendable static func recognizes(_ prefix: RawSpan) -> Bool {
            prefix.withUnsafeBytes { memory in
                let bytes = memory.bindMemory(to: UInt8.self)
                guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
                let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
                // A list of brands is short. Other text may contain the same words.
                guard size <= 4_096 else { return false }
                let names = stride(from: 8, to: min(size, bytes.count) - 3, by: 4).filter { $0 != 12 }.map {
                    Array(bytes[$0..<$0 + 4])
                }
                if names.contains(where: coded.contains) { return true }
                // A brand of another codec may follow while the list is incomplete.
                let isComplete = size <= bytes.count || bytes.count >= CodecRegistry.sniffedByteCount
                return isComplete && names.contains(where: general.contains) && !names.contains(where: foreign.contains)
            }
        }
    }
#endif
