#if AVIF
    public import AlcedoCore
    package import FoundationEssentials

    /// The decoder of `CodecRegistry.Entry.avif(usesThreads:)`.
    ///
    /// The image is cropped, rotated and mirrored as the properties `clap`, `irot` and `imir` state, in this order.
    /// Rotation and mirroring are the orientation. The orientation in EXIF or XMP is not applied, because the format
    /// repeats it there for information only. Sources: AV1 Image File Format; ISO/IEC 23008-12.
    ///
    /// libavif holds the planes of an image. With a target size, rows are averaged as they are converted, so the
    /// full-size image is never in memory in addition to its planes.
    package struct AVIFDecoder: ImageDecoding {
        /// Whether a second thread may be used. This does not change the pixels.
        package var usesThreads: Bool

        /// Creates a stateless decoder. By default, it uses the calling thread only.
        package init(usesThreads: Bool = false) { self.usesThreads = usesThreads }

        /// Reads the properties from the boxes. The data may be the beginning of a file that contains them.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the boxes are incomplete, `exceedsLimit` also
        ///   for more frames than `limits` allows.
        /// - Complexity: O(boxes and frames).
        package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try OpenedAVIF(data, limits: limits, threadCount: usesThreads ? 2 : 1)
        }

        package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
            IncrementalDecoder(AVIFDecodingState(options: options, threadCount: usesThreads ? 2 : 1))
        }
    }

    extension CodecRegistry.Entry {
        /// AVIF by libavif: still images and sequences. See `avif(usesThreads:)`.
        public static var avif: Self { avif(usesThreads: false) }

        /// Returns the codec of AVIF by libavif: still images and sequences, with 8, 10 and 12 bits, with alpha.
        ///
        /// ```swift
        /// let codecs = CodecRegistry.standard.adding(.avif(usesThreads: true))
        /// ```
        ///
        /// The format is recognized by the brands `avif` and `avis` among the first 64 bytes. At a quality of 1, the
        /// registry's encoder is lossless.
        ///
        /// The image is cropped, rotated and mirrored as the file states. The orientation in EXIF is ignored, as the
        /// format requires. The result is straight RGBA8, also when the file stores premultiplied color. It is RGBA16
        /// for files with 10 and 12 bits when the options request it. A target size averages pixels after they are
        /// decoded.
        ///
        /// Unusable metadata, a missing end of the file after the pixels, and items outside of the file that are not
        /// needed are harmless damage. So are missing or broken later frames: the sequence ends before them. So is
        /// alpha that is empty, outside of the file or cannot be decoded: the image is opaque. Other damage of the
        /// image that libavif detects means missing pixels: complete layers and rows of tiles are shown. The format has
        /// no checksums, so wrong samples are usually not detected. Damage in the pixels of a later frame is found when
        /// the frame is decoded.
        ///
        /// - Parameter usesThreads: Whether a second thread may be used to decode an image. This does not change the
        ///   pixels.
        public static func avif(usesThreads: Bool) -> Self {
            Self(
                format: .avif, decoder: AVIFDecoder(usesThreads: usesThreads), signatures: AVIFBrands.signatures,
                recognizes: AVIFBrands.contains,
                makeEncoder: { quality in
                    AVIFEncoder(compression: quality < 1 ? .lossy(quality: quality * 100) : .lossless)
                })
        }
    }

    extension ImageFormat {
        /// AV1 Image File Format, lossy and lossless.
        public static let avif = ImageFormat(rawValue: "avif")
    }

    /// The brands at the beginning of a file.
    private enum AVIFBrands {
        private static let names: [[UInt8]] = [Array("avif".utf8), Array("avis".utf8)]

        /// The beginnings of files: the first box with a brand as the major brand, or as one of the compatible brands
        /// after the version.
        static var signatures: [[UInt8?]] {
            let positions = [8] + Array(stride(from: 16, to: CodecRegistry.sniffedByteCount - 3, by: 4))
            return names.flatMap { name in positions.map { signature(name, at: $0) } }
        }

        private static func signature(_ name: [UInt8], at position: Int) -> [UInt8?] {
            var bytes = [UInt8?](repeating: nil, count: position + name.count)
            bytes.replaceSubrange(4..<8, with: "ftyp".utf8.map { $0 })
            bytes.replaceSubrange(position..<position + name.count, with: name.map { $0 })
            return bytes
        }

        /// Returns whether the first box lists a brand of AVIF within the bytes.
        @Sendable static func contains(_ prefix: RawSpan) -> Bool {
            prefix.withUnsafeBytes { memory in
                let bytes = memory.bindMemory(to: UInt8.self)
                guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
                let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
                // A list of brands is short. Other text may contain the same words.
                guard size <= 4_096 else { return false }
                return stride(from: 8, to: min(size, bytes.count) - 3, by: 4).contains { position in
                    position != 12 && names.contains { bytes[position..<position + 4].elementsEqual($0) }
                }
            }
        }
    }
#endif
