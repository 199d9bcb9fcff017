import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

struct ThumbnailCommand: ProgramCommand {
    static let name = "thumbnail"
    static let help =
        """
        usage: alcedo thumbnail URL|FILE|DIRECTORY... --size N --output DIR [options]

        Writes a thumbnail of each image to DIR under the image's name, with a number after repeated names. Colors are
        converted to sRGB. Of an animation, the first frame is written. An image that fails is reported on standard
        error, and the other thumbnails are written.

          --size N                fit each thumbnail into N x N pixels, as --fit says
          --output, -o DIR        write the thumbnails to DIR
          --format NAME           write \(OutputFormat.names) (default: jpeg)
          --quality Q             set the quality of \(OutputFormat.lossyNames), from 1 to 100 (default: 80\(OutputFormat.ownQuality))

        """ + FitOptions.help + EncodingOptions.help(writesAnimations: false) + ImageOptions.help(jobs: 8)

    private var side: Int?
    private var fit = FitOptions()
    private var encoding = EncodingOptions(writesAnimations: false)
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        if option == "--size" {
            side = try arguments.number(of: option, in: 1...65_535)
            return true
        }
        return try fit.take(option, from: &arguments) || encoding.take(option, from: &arguments)
            || options.take(option, from: &arguments)
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: false)
        try fit.check()
        _ = try (maker, destination)
    }

    private var destination: OutputDestination {
        get throws { try OutputDestination(options.requiredOutput(for: Self.name)) }
    }

    private var maker: ThumbnailMaker {
        get throws {
            guard let side else { throw UsageError("thumbnail needs --size") }
            let format = encoding.format ?? .jpeg
            return ThumbnailMaker(
                size: PixelSize(width: side, height: side), fit: fit, processors: options.processors,
                encoder: try encoding.encoder(of: format, defaultQuality: 80), metadata: encoding.metadata,
                resolution: encoding.resolution,
                fileExtension: format.fileExtension)
        }
    }

    func run() async throws -> ExitStatus {
        try await options.run(
            "thumbnails", try await options.images(), to: try destination, by: try maker, jobs: options.jobs ?? 8)
    }
}

/// Writes a thumbnail of an image.
private struct ThumbnailMaker: FileMaking {
    /// The size that the thumbnail is fitted into.
    let size: PixelSize
    let fit: FitOptions
    /// The processors applied after resizing, in order.
    let processors: [any ImageProcessing]
    let encoder: any ImageEncoding
    let metadata: MetadataPolicy
    /// The resolution to write, or nil for the one that the policy keeps.
    let resolution: ImageResolution?
    let fileExtension: String

    var makesFrames: Bool { false }

    /// False, because a thumbnail is expected to lose detail and animation.
    var reportsLosses: Bool { false }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage {
        let original = try await tools.original(request, progress: progress)
        var request = original.request
        request.decoding.includesAnimation = false
        // Color loses its low bits, which a thumbnail does not show.
        let exact = original.info.exactFormat
        let holdsDeepSamples = ![.jpeg, .webp, .gif].contains(encoder.format)
        if original.info.colorModel.isGray {
            request.decoding.pixelFormat = holdsDeepSamples ? exact : exact.shallow
        }
        request.processors += [fit.processor(size)] + processors
        let largest = fit.maximumSize(size, of: original.info.uprightSize)
        return try await tools.withMemory(for: largest, exact, by: encoder) { [request] in
            try await write(original, request, with: tools, into: sink)
        }
    }

    private func write(
        _ original: FileTools.Original, _ request: ImageRequest, with tools: FileTools, into sink: OutputSink
    ) async throws -> WrittenImage {
        var image = try await tools.pipeline.load(request).image
        image.colorProfile = metadata.colorProfile(of: image.colorProfile)
        if original.info.isGrayWithAlpha { image.storedModel = .grayAlpha }
        let encoder = metadata.encoder(
            self.encoder, for: original.info, in: .sRGB, isUpright: true, resolution: resolution)
        let (count, losses) = try await tools.files.run { [image] in
            let data = try tools.encode(image, by: encoder)
            // The pipeline has converted the colors to sRGB, which needs no profile.
            let losses = try tools.losses(from: original.info, image, in: data).filter { $0 != .profile }
            try sink.write(data, frame: nil)
            return (data.count, losses)
        }
        return WrittenImage(
            size: image.size, layer: original.layer, bytesIn: original.byteCount, bytesOut: count, losses: losses,
            damage: image.damage)
    }
}
