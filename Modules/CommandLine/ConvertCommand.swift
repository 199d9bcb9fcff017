import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

struct ConvertCommand: ProgramCommand {
    static let name = "convert"
    static let help =
        """
        usage: alcedo convert URL|FILE|DIRECTORY... --format NAME --output DIR [options]
               alcedo convert URL|FILE --output FILE [options]

        Writes each image in another format, upright and, without --size, at full size. Color profiles are kept. Samples
        of more than 8 bits are kept in \(OutputFormat.deepNames), and animations in \(OutputFormat.animatedNames).
        Other metadata is kept only as --metadata says; the orientation is applied to the pixels. Lost properties are
        reported. An image that fails is reported on standard error, and the others are written.

          --output, -o DIR|FILE   write files with the images' names to DIR, with a number after repeated names; or
                                  write one image to FILE, whose extension selects the format, or to standard output
                                  for -. {name} and {size} in the name of FILE stand for the name of each image and
                                  the size, as in 'DIR/{name}-{size}.webp'
          --size N                reduce each larger image to fit into N x N pixels, as --fit says (default: full
                                  size). May be repeated, for several files of one decode; the name of each file in DIR
                                  then ends with the size

        """ + recompressionHelp
        + ConversionOptions.help(
            format: "the extension of FILE", quality: defaultQuality, writesAnimations: true, jobs: defaultJobs)

    private static let defaultQuality = 85
    private static let defaultJobs = 4

    #if JXL
        private static let recompressionHelp = RecompressionMaker.help
    #else
        private static let recompressionHelp = ""
    #endif

    private var recompresses = false
    private var options = ConversionOptions(writesAnimations: true)

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        if option == "--recompress" {
            recompresses = true
            return true
        }
        return try options.take(option, from: &arguments)
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: true)
        _ = try maker
        try destination.check(imageCount: 1, sizes: options.fit.sizes)
    }

    private var destination: OutputDestination {
        get throws {
            try OutputDestination(
                options.images.requiredOutput(for: Self.name), formats: OutputFormat.names, takesPattern: true
            ) {
                OutputFormat(fileName: $0) != nil
            }
        }
    }

    private var maker: any FileMaking {
        get throws {
            guard let format = try destination.format(or: options.encoding.format) else {
                throw UsageError("convert needs --format")
            }
            if recompresses { return try recompressionMaker(of: format) }
            return ConversionMaker(
                format: format, form: try options.form(of: format, defaultQuality: Self.defaultQuality))
        }
    }

    private func recompressionMaker(of format: OutputFormat) throws -> any FileMaking {
        #if JXL
            return try options.recompressionMaker(of: format)
        #else
            throw UsageError("--recompress needs a build with the package trait JXL")
        #endif
    }

    func run() async throws -> ExitStatus {
        var command = self
        try await command.options.loadOverlays()
        return try await options.run("converted", to: destination, by: command.maker, jobs: Self.defaultJobs)
    }
}

/// An image in one format. Samples of more than 8 bits, and the frames of an animation, are kept only in formats that
/// support them.
private struct ConversionMaker: FileMaking {
    let format: OutputFormat
    let form: OutputForm

    var fileExtension: String { format.fileExtension }

    var sizes: [Int] { form.fit.sizes }

    var reportsLosses: Bool { true }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage {
        let original = try await tools.original(request, progress: progress)
        guard !form.needsConverter else {
            let colorSpace = form.hasOverlay ? .sRGB : original.info.exactColorSpace
            let images = try await form.variants(
                of: original, in: colorSpace, keepsAnimation: true, keepsDepth: true, with: tools)
            return try await tools.write(images, of: original, into: sink, ignoring: form.expectedLosses)
        }
        let encoder = form.metadata.encoder(
            form.encoder, for: original.info, in: original.info.exactColorSpace, isUpright: true,
            resolution: form.resolution)
        return try await tools.withMemory(
            for: form.fit.maximumSize(of: original.info.uprightSize), original.info.exactFormat,
            frameCount: format.holdsAnimations ? original.info.frameCount : 1, by: encoder
        ) { deadline in
            try await write(original, by: encoder, with: tools, into: sink.closing(at: deadline))
        }
    }

    private func write(
        _ original: FileTools.Original, by encoder: any ImageEncoding, with tools: FileTools, into sink: OutputSink
    ) async throws -> WrittenImage {
        let loaded = try await tools.exactImage(
            of: original, applying: form.allProcessors, keepsDepth: format.holdsDeepSamples,
            includesAnimation: format.holdsAnimations)
        var image = loaded
        image.colorProfile = form.metadata.colorProfile(of: image.colorProfile)
        // The encoder verifies that the pixels are still gray.
        let isUnchanged = form.allProcessors.isEmpty && original.request.processors.isEmpty
        if isUnchanged || original.info.isGrayWithAlpha { image.storedModel = original.info.colorModel }
        let frames = image.frames.map { CancellableFrames($0) }
        image.frames = frames
        let file = try await withTaskCancellationHandler {
            try await tools.files.run { [image] in
                let data = try encode(image, frames, by: encoder, with: tools)
                let losses = try tools.losses(from: original.info, image, in: data)
                let path = try sink.write(data, frame: nil)
                return WrittenFile(path: path, size: image.size, byteCount: data.count, losses: losses)
            }
        } onCancel: {
            frames?.stop()
        }
        return WrittenImage(
            files: [file], layer: original.layer, bytesIn: original.byteCount,
            damage: .worst(loaded.damage, loaded.frames?.damage))
    }

    /// Encodes the image. If the frames were stopped, throws `CancellationError` instead of the encoder's error.
    private func encode(
        _ image: DecodedImage, _ frames: CancellableFrames?, by encoder: any ImageEncoding, with tools: FileTools
    ) throws -> Data {
        do {
            return try tools.encode(image, by: encoder)
        } catch {
            throw frames?.isStopped == true ? CancellationError() : error
        }
    }
}

/// An animation that can be stopped while an encoder reads its frames. Encoders do not check for cancellation, and a
/// small file may have thousands of frames.
final class CancellableFrames: DerivedFrameSource {
    let source: any ImageFrameSource
    private let stopped = Locked(false)

    init(_ frames: any ImageFrameSource) { source = frames }

    var isStopped: Bool { stopped.withLock { $0 } }

    /// Stops the animation. Later calls of ``frame(at:)`` throw `CancellationError`.
    func stop() { stopped.withLock { $0 = true } }

    /// Returns the frame at an index.
    ///
    /// - Throws: The error of the wrapped animation, or `CancellationError` after ``stop()``.
    func frame(at index: Int) throws -> PixelBuffer {
        if isStopped { throw CancellationError() }
        return try source.frame(at: index)
    }
}
