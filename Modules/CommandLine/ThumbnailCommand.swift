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

          --size N                fit each thumbnail into N x N pixels, as --fit says. May be repeated, for several
                                  thumbnails of one decode; the name of each file in DIR then ends with the size
          --output, -o DIR        write the thumbnails to DIR. A last part with {name} and {size} is a pattern of their
                                  names, as in 'DIR/{name}-{size}.webp', whose extension selects the format
          --format NAME           write \(OutputFormat.names) (default: jpeg)
          --quality Q             set the quality of \(OutputFormat.lossyNames), from 1 to 100 (default: 80\(OutputFormat.ownQuality))

        """ + FitOptions.help + EncodingOptions.help(writesAnimations: false) + ImageOptions.help(jobs: 8)

    private var fit = FitOptions()
    private var encoding = EncodingOptions(writesAnimations: false)
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        try fit.take(option, from: &arguments) || encoding.take(option, from: &arguments)
            || options.take(option, from: &arguments)
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: false)
        try fit.check()
        _ = try (maker, destination)
        try destination.check(imageCount: 1, sizes: fit.sizes)
    }

    private var destination: OutputDestination {
        get throws { try OutputDestination(options.requiredOutput(for: Self.name), takesPattern: true) }
    }

    private var maker: ThumbnailMaker {
        get throws {
            if fit.sizes.isEmpty { throw UsageError("thumbnail needs --size") }
            let format = try destination.format(or: encoding.format) ?? .jpeg
            return ThumbnailMaker(
                form: OutputForm(
                    fit: fit, processors: options.processors,
                    encoder: try encoding.encoder(of: format, defaultQuality: 80), metadata: encoding.metadata,
                    resolution: encoding.resolution),
                fileExtension: format.fileExtension)
        }
    }

    func run() async throws -> ExitStatus {
        let (destination, maker) = (try destination, try maker)
        let images = try await options.images()
        try destination.check(imageCount: images.count, sizes: fit.sizes)
        return try await options.run("thumbnails", images, to: destination, by: maker, jobs: options.jobs ?? 8)
    }
}

/// Writes thumbnails of an image.
private struct ThumbnailMaker: FileMaking {
    let form: OutputForm
    let fileExtension: String

    var sizes: [Int] { form.fit.sizes }

    /// False, because a thumbnail is expected to lose detail and animation.
    var reportsLosses: Bool { false }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage {
        let original = try await tools.original(request, progress: progress)
        return try await tools.withMemory(
            for: form.fit.maximumSizes(of: original.info.uprightSize), original.info.exactFormat, by: form.encoder
        ) {
            guard sizes.count > 1 else { return try await write(original, with: tools, into: sink) }
            let images = try await form.variants(
                of: original, in: .sRGB, keepsAnimation: false, keepsDepth: original.info.colorModel.isGray,
                with: tools)
            return try await tools.write(images, of: original, into: sink, ignoring: [.profile])
        }
    }

    private func write(
        _ original: FileTools.Original, with tools: FileTools, into sink: OutputSink
    ) async throws -> WrittenImage {
        var request = original.request
        request.decoding.includesAnimation = false
        // Color loses its low bits, which a thumbnail does not show.
        let exact = original.info.exactFormat
        let holdsDeepSamples = ![.jpeg, .webp, .gif].contains(form.encoder.format)
        if original.info.colorModel.isGray {
            request.decoding.pixelFormat = holdsDeepSamples ? exact : exact.shallow
        }
        request.processors += form.allProcessors
        var image = try await tools.pipeline.load(request).image
        image.colorProfile = form.metadata.colorProfile(of: image.colorProfile)
        if original.info.isGrayWithAlpha { image.storedModel = .grayAlpha }
        let encoder = form.metadata.encoder(
            form.encoder, for: original.info, in: .sRGB, isUpright: true, resolution: form.resolution)
        let file = try await tools.files.run { [image] in
            let data = try tools.encode(image, by: encoder)
            // The pipeline has converted the colors to sRGB, which needs no profile.
            let losses = try tools.losses(from: original.info, image, in: data).filter { $0 != .profile }
            let path = try sink.write(data, frame: nil)
            return WrittenFile(path: path, size: image.size, byteCount: data.count, losses: losses)
        }
        return WrittenImage(
            files: [file], layer: original.layer, bytesIn: original.byteCount, damage: image.damage)
    }
}
