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

        var fileExtension: String { format.fileExtension }

        var makesFrames: Bool { false }

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
            let count = try await tools.files.run {
                let data =
                    try format == .jxl
                    ? JPEGRecompression.compress(original.data, effort: effort, limits: limits)
                    : JPEGRecompression.reconstruct(original.data, limits: limits)
                try sink.write(data, frame: nil)
                return data.count
            }
            return WrittenImage(
                size: original.info.size, layer: original.layer, bytesIn: original.byteCount, bytesOut: count)
        }
    }

    extension RecompressionMaker {
        static let help = """
              --recompress            store the data of JPEG files in jxl files, or write the JPEG files again, byte for
                                      byte; all metadata is kept, including a location

            """
    }
#endif
