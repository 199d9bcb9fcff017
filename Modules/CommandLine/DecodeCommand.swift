import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

struct DecodeCommand: ProgramCommand {
    static let name = "decode"
    static let help =
        """
        usage: alcedo decode URL|FILE|DIRECTORY... --output DIR|FILE|- [options]

        Writes the pixels of each image, and of each composited frame of an animation, upright and with straight alpha.
        Color profiles are not applied. An image that fails is reported on standard error, and the others are written.

          --output, -o DIR|FILE|-
                                  write files with the images' names to DIR, with +0000 and so on for frames; write one
                                  image to FILE, whose extension selects the format; or write to standard output.
                                  Frames in one file, and images on standard output, are concatenated, as Netpbm's
                                  tools read them
          --format NAME           write pam (gray, RGB, or RGBA for alpha), ppm (without alpha), or rgba (samples
                                  without a header, 16-bit samples in native byte order) (default: the extension of
                                  FILE, or pam)
          --frame N               write only the frame N of animations; the first frame is 0
          --depth N               write at most N bits per sample, 8 or 16 (default: 16)

        """ + ImageOptions.help(jobs: 4)

    private var format: PixelFile?
    private var frame: Int?
    private var isShallow = false
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--format":
            let name = try arguments.value(of: option)
            guard let format = PixelFile(rawValue: name) else {
                throw UsageError("--format needs \(PixelFile.names), not '\(name)'")
            }
            self.format = format
        case "--frame": frame = try arguments.number(of: option, in: 0...1_000_000)
        case "--depth":
            let depth = try arguments.number(of: option, in: 8...16)
            guard depth == 8 || depth == 16 else { throw UsageError("--depth needs 8 or 16, not '\(depth)'") }
            isShallow = depth == 8
        default: return try options.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: true)
        if case .file(let path) = try destination, let format, format != PixelFile(fileName: path) {
            throw UsageError("the extension of '\(path)' does not match the format \(format.rawValue)")
        }
    }

    private var destination: OutputDestination {
        get throws {
            try OutputDestination(options.requiredOutput(for: Self.name), formats: PixelFile.names) {
                PixelFile(fileName: $0) != nil
            }
        }
    }

    func run() async throws -> ExitStatus {
        let destination = try destination
        var (file, jobs) = (format, options.jobs ?? 4)
        let images = try await options.images()
        switch destination {
        case .file(let path):
            file = file ?? PixelFile(fileName: path)
            if images.count > 1 { throw UsageError("several images need a directory for --output") }
        // A single job keeps the images in order.
        case .standardOutput: jobs = 1
        case .directory, .pattern, .sharedThumbnails: break
        }
        let maker = PixelMaker(
            file: file ?? .pam, frame: frame, isShallow: isShallow, processors: options.processors)
        return try await options.run("decoded", images, to: destination, by: maker, jobs: jobs)
    }
}

/// The pixels of an image, or of the frames of an animation.
private struct PixelMaker: FileMaking {
    let file: PixelFile
    /// The index of the only frame to write, or nil for all frames.
    let frame: Int?
    /// Whether samples of 16 bits are reduced to 8.
    let isShallow: Bool
    /// The processors applied before writing, in order.
    let processors: [any ImageProcessing]

    var fileExtension: String { file.rawValue }

    var makesFrames: Bool { true }

    var reportsLosses: Bool { true }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage {
        let original = try await tools.original(request, progress: progress)
        return try await tools.withMemory(
            for: original.info.uprightSize, original.info.exactFormat, by: nil
        ) { deadline in
            try await write(original, with: tools, into: sink.closing(at: deadline))
        }
    }

    private func write(
        _ original: FileTools.Original, with tools: FileTools, into sink: OutputSink
    ) async throws -> WrittenImage {
        let image = try await tools.exactImage(
            of: original, applying: processors, keepsDepth: !isShallow, includesAnimation: true)
        var written = WrittenImage(
            files: [], layer: original.layer, bytesIn: original.byteCount, damage: image.damage)
        var losesAlpha = false
        // Frames are decoded one at a time, so that memory use does not grow with the number of frames.
        let frames = try frames(of: image)
        for frame in frames {
            // A damaged frame ends the animation before it.
            if let frame, frame >= image.frames?.frameCount ?? 1 { break }
            do {
                let (made, isTransparent) = try await tools.files.run {
                    let pixels = try frame.flatMap { try image.frames?.frame(at: $0) } ?? image.pixels
                    let data = file.data(of: pixels)
                    let path = try sink.write(data, frame: frame, isLast: frame == frames.last)
                    return (
                        WrittenFile(path: path, size: image.size, byteCount: data.count, frame: frame),
                        file == .ppm && pixels.hasTransparency
                    )
                }
                written.files.append(made)
                losesAlpha = losesAlpha || isTransparent
            } catch is CancellationError where sink.writesSeparateFiles && !written.files.isEmpty {
                // The files written so far are complete, so the result reports them.
                written.isComplete = false
                break
            } catch {
                guard self.frame == nil, frame ?? 0 >= image.frames?.frameCount ?? 1 else { throw error }
                break
            }
        }
        written.damage = .worst(image.damage, image.frames?.damage)
        let losesDepth = isShallow && original.info.exactFormat.isDeep
        let losses: [Loss] = (losesAlpha ? [.alpha] : []) + (losesDepth ? [.depth] : [])
        for index in written.files.indices { written.files[index].losses = losses }
        return written
    }

    /// Returns the indices of the frames to write. A nil element stands for the still image.
    ///
    /// - Throws: ``OutputError`` if the image has no frame with the requested index.
    private func frames(of image: DecodedImage) throws -> [Int?] {
        let count = image.frames?.frameCount ?? 1
        if let frame, frame >= count {
            throw OutputError(description: "the image has no frame \(frame); the last frame is \(count - 1)")
        }
        guard image.isAnimated else { return [nil] }
        return frame.map { [$0] } ?? Array(0..<count)
    }
}
