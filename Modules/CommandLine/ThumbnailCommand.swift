import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

struct ThumbnailCommand: ProgramCommand {
    static let name = "thumbnail"
    static let help =
        """
        usage: alcedo thumbnail URL|FILE|DIRECTORY... --size N --output DIR [options]
               alcedo thumbnail --freedesktop FILE|DIRECTORY... [--size N] [options]
               alcedo thumbnail -s N FILE THUMBNAIL

        Writes a thumbnail of each image to DIR under the image's name, with a number after repeated names. Colors are
        converted to sRGB. Of an animation, one frame is written. An image that fails is reported on standard
        error, and the other thumbnails are written.

          --size N                fit each thumbnail into N x N pixels, as --fit says. May be repeated, for several
                                  thumbnails of one decode; the name of each file in DIR then ends with the size
          --output, -o DIR        write the thumbnails to DIR. A last part with {name} or {size} is a pattern of their
                                  names, as in 'DIR/{name}-{size}.webp', whose extension selects the format
          --freedesktop           write thumbnails of files to the directories that the programs of a desktop share,
                                  $XDG_CACHE_HOME/thumbnails, as freedesktop.org specifies them; N is 128, 256, 512 or
                                  1024 (default: 128 and 256). Current thumbnails are kept, and files that could not be
                                  read are not tried again, unless --force is given
          -s N                    write a thumbnail of at most N x N pixels of FILE to THUMBNAIL, in PNG, as a desktop
                                  calls a thumbnailer; an existing file is replaced

        """
        + ConversionOptions.help(
            format: "jpeg", quality: defaultQuality, writesAnimations: false, jobs: defaultJobs)

    private static let defaultQuality = 80
    private static let defaultJobs = 8
    /// The sizes that `--freedesktop` makes by default.
    private static let sharedSizes = [128, 256]

    private var options = ConversionOptions(writesAnimations: false)
    /// The option that gives thumbnails the form that desktops expect, or nil: `--freedesktop` or `-s`.
    private var desktopOption: String?

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "-s":
            desktopOption = option
            try options.fit.add(arguments.number(of: option, in: FitOptions.range))
        case "--freedesktop": desktopOption = desktopOption ?? option
        default: return try options.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        if let desktopOption {
            if let option = options.formOption { throw UsageError("\(desktopOption) does not support \(option)") }
            try desktopOption == "-s" ? finishThumbnailer(words) : finishShared(words)
        } else {
            try options.finish(words, for: Self.name, takesStandardOutput: false)
        }
        _ = try (maker, destination)
        try destination.check(imageCount: 1, sizes: options.fit.sizes)
    }

    private mutating func finishThumbnailer(_ words: [String]) throws {
        guard options.fit.sizes.count == 1 else { throw UsageError("-s does not support --size") }
        try options.images.finishThumbnailer(words)
    }

    private mutating func finishShared(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: false)
        if options.fit.sizes.isEmpty { options.fit = options.fit.with(sizes: Self.sharedSizes) }
        if let size = options.fit.sizes.first(where: { SharedThumbnails.directories[$0] == nil }) {
            throw UsageError("--freedesktop needs a size of 128, 256, 512 or 1024, not \(size)")
        }
    }

    private var destination: OutputDestination {
        get throws {
            switch desktopOption {
            case "-s": .file(try options.images.requiredOutput(for: Self.name))
            case "--freedesktop": .sharedThumbnails
            default: try OutputDestination(options.images.requiredOutput(for: Self.name), takesPattern: true)
            }
        }
    }

    private var maker: any FileMaking {
        get throws {
            switch desktopOption {
            case "-s": return DesktopThumbnailMaker(fit: options.fit, shared: nil, replaces: true)
            case "--freedesktop":
                return DesktopThumbnailMaker(
                    fit: options.fit, shared: try SharedThumbnails(), replaces: options.images.writing.replaces)
            default:
                if options.fit.sizes.isEmpty { throw UsageError("thumbnail needs --size") }
                let format = try destination.format(or: options.encoding.format) ?? .jpeg
                return ThumbnailMaker(
                    form: try options.form(of: format, defaultQuality: Self.defaultQuality),
                    fileExtension: format.fileExtension)
            }
        }
    }

    func run() async throws -> ExitStatus {
        let destination = try destination
        if case .sharedThumbnails = destination { try SharedThumbnails().prepare(options.fit.sizes) }
        var command = self
        try await command.options.loadOverlays()
        return try await options.run("thumbnails", to: destination, by: command.maker, jobs: Self.defaultJobs)
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
        guard !form.needsConverter else {
            let images = try await form.variants(
                of: original, in: .sRGB, keepsAnimation: false, keepsDepth: original.info.colorModel.isGray,
                with: tools)
            return try await tools.write(
                images, of: original, into: sink, ignoring: form.expectedLosses.union([.profile]))
        }
        return try await tools.withMemory(
            for: form.fit.maximumSize(of: original.info.uprightSize), original.info.exactFormat, by: form.encoder
        ) { deadline in
            try await write(original, with: tools, into: sink.closing(at: deadline))
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
