#if JXL
    import Alcedo
    import AlcedoJXL
    import AlcedoProgramSupport
    import AlcedoRuntime
    import FoundationEssentials

    /// JPEG files as JPEG XL without loss, or the JPEG files reconstructed from them byte for byte.
    struct RecompressionMaker: FileMaking {
        /// The format of the written files: JPEG XL or JPEG.
        let format: OutputFormat
        /// The effort of libjxl.
        let effort: Int
        let recompressor: Recompressor

        var fileExtension: String { format.fileExtension }

        var reportsLosses: Bool { true }

        func make(
            _ request: ImageRequest, with tools: FileTools, into sink: OutputSink,
            progress: @escaping BatchLoad.Progress
        ) async throws -> WrittenImage {
            let original = try await tools.original(request, progress: progress)
            let source: ImageFormat = format == .jxl ? .jpeg : .jxl
            guard original.info.format == source else {
                throw OutputError(
                    description: "--recompress makes \(format.rawValue) of \(source), not of \(original.info.format)")
            }
            let limits = request.decoding.limits
            let needed = try await byteCount(of: original, limits, with: tools)
            try recompressor.check(byteCount: needed)
            let file = try await tools.withMemory(of: needed) { deadline in
                try await tools.files.run {
                    let data = try recompressor.convert(
                        format == .jxl ? .compression : .reconstruction, original.data, of: original.info.size,
                        effort: effort, limits: limits)
                    let path = try sink.closing(at: deadline).write(data, frame: nil)
                    return WrittenFile(path: path, size: original.info.size, byteCount: data.count)
                }
            }
            return WrittenImage(files: [file], layer: original.layer, bytesIn: original.byteCount)
        }

        /// Returns the memory that the recompression holds at its peak, with copies of both files for a worker. What
        /// needs more than the limit of `--max-decoded` runs alone, as an encoder does, and fails if it needs more than
        /// a worker has.
        private func byteCount(
            of original: FileTools.Original, _ limits: DecodingLimits, with tools: FileTools
        ) async throws -> Int {
            let (size, count) = (original.info.size, original.byteCount)
            if format == .jxl {
                return JPEGRecompression.compressionByteCount(of: size, effort: effort, fileByteCount: count)
            }
            let decoding = try await tools.files.run {
                try tools.codecs.open(original.data, limits: limits).decodingByteCount(DecodingOptions(limits: limits))
            }
            let jpeg = JPEGRecompression.maximumJPEGByteCount(of: size, fileByteCount: count, limits)
            return decoding.addingClamped(2 * jpeg)
        }
    }

    extension RecompressionMaker {
        static let help = """
              --recompress            store the data of JPEG files in jxl files, or write the JPEG files again, byte for
                                      byte; all metadata is kept, including a location

            """
    }
#endif
