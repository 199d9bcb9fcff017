import Alcedo
import AlcedoPlaceholders
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

struct InspectCommand: ProgramCommand {
    static let name = "inspect"
    static let help =
        """
        usage: alcedo inspect URL|FILE|DIRECTORY... [options]

        Prints the properties of images. Pixels are decoded only with --pixels or --placeholders.

          --pixels                decode every frame and print the SHA-256 of its rows: straight 8-bit RGBA, top row
                                  first, without orientation, gamma or profile applied
          --placeholders          decode the first frame at a small size and print its ThumbHash, its BlurHash with
                                  4 x 3 components, and its dominant color
          --location              print the coordinates that a photo has, and not only whether it has any
          --json                  print one JSON object per line and image, in order
          --quiet, -q             print only problems; damaged pixel data, such as a truncated file, is found only when
                                  pixels are decoded

        """ + InputOptions.help + NetworkOptions.help

    private var inputs = InputOptions()
    private var network = NetworkOptions()
    private var isJSON = false
    private var isQuiet = false
    private var decodesPixels = false
    private var makesPlaceholders = false
    private var readsLocation = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--json": isJSON = true
        case "--quiet", "-q": isQuiet = true
        case "--pixels": decodesPixels = true
        case "--placeholders": makesPlaceholders = true
        case "--location": readsLocation = true
        default: return try inputs.take(option, from: &arguments) || network.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws { try inputs.take(words, for: Self.name) }

    func run() async throws -> ExitStatus {
        let images = try await inputs.images(changing: network.apply)
        let log = network.isVerbose ? TransferLog { Console.notice($0) } : nil
        // The command uses no disk cache, because it reports the images that the servers have now.
        let downloader = try network.downloader(parts: nil, downloads: images.count, log: log)
        var report = JobReport(program: "alcedo")
        (report.isJSON, report.isQuiet) = (isJSON, isQuiet)
        for skipped in images.skipped where isJSON && !isQuiet {
            var line = ImageReport(input: skipped.directory)
            line.skipped = skipped.count
            report.printObject(line)
        }
        if !isJSON { report.printSkipped(images) }
        let tally = RunTally(of: images.count, "inspected", report)
        return await InterruptibleJob(downloader: downloader, log: log, tally: tally).run { [report] interruption in
            await inspect(images, with: downloader, until: interruption, report, tally)
        }
    }

    /// Inspects the images and prints their reports. Returns whether every image was inspected without an error.
    private func inspect(
        _ images: ImageList, with downloader: Downloader, until interruption: Interruption, _ report: JobReport,
        _ tally: RunTally
    ) async -> Bool {
        let inspector = Inspector(
            codecs: inputs.codecs, limits: inputs.limits, tolerance: inputs.tolerance, decodesPixels: decodesPixels,
            makesPlaceholders: makesPlaceholders, readsLocation: readsLocation)
        let decoding = BlockingExecutor(name: "alcedo.inspect", maxConcurrent: 1)
        // Images are inspected one at a time. The reports are then in the order of the list, and only one image is in
        // memory. On a terminal, the reports themselves show the progress.
        let batch = BatchLoad(
            images, maxConcurrentLoads: 1, interruption: interruption,
            showsProgress: report.showsProgress && !Console.outputIsTerminal)
        var succeeded = true
        await batch.run { request, index, progress in
            let data = try await downloader.download(DownloadRequest(request.source), progress: progress).data
            let blank = ImageReport(input: images[index].path)
            return try await decoding.run { inspector.inspect(data, blank) }
        } onResult: { index, result in
            let image = images[index]
            var found = ImageReport(input: image.path)
            switch result {
            case .success(let inspected): found = inspected
            case .failure(let error):
                // The load throws any error, and an empty file is the only one that the report tells apart.
                let code = (error as? DownloadError)?.code == .empty ? "empty" : "unreadable"
                (found.errorCode, found.error) = (code, "\(code): \(image.problem(error))")
            }
            if found.error != nil { succeeded = false }
            printReport(found, of: image, by: report)
            tally.add()
        }
        return succeeded
    }

    private func printReport(_ image: ImageReport, of argument: ImageArgument, by report: JobReport) {
        if let error = image.error, !isJSON || isQuiet {
            // Scripts branch on the code; for people, the message says the same.
            report.problem("\(argument.name): \(error.trimmingPrefix("\(image.errorCode ?? ""): "))")
        }
        if isQuiet { report.damage(image.tolerated, of: argument.name) }
        guard !isQuiet else { return }
        report.printText(image.text)
        report.printObject(image)
    }
}

/// The options of an inspection, and how they fill a report from encoded bytes.
struct Inspector: Sendable {
    let codecs: CodecRegistry
    let limits: DecodingLimits
    let tolerance: DamageTolerance
    let decodesPixels: Bool
    let makesPlaceholders: Bool
    var readsLocation = false

    /// Returns the report `blank`, filled with the properties of the encoded image. If the inspection or the decoding
    /// of pixels fails, the report has the error and the properties that were read before. Blocks the calling thread.
    func inspect(_ data: Data, _ blank: ImageReport) -> ImageReport {
        var report = blank
        report.format = codecs.entry(for: data)?.format.rawValue
        do throws(ImageDecodingError) {
            let reader = try codecs.open(data, limits: limits)
            let info = try reader.info()
            report.take(info, readsLocation: readsLocation)
            // Some decoders check the limits only when they decode. A drawing has any size.
            if info.format.rawValue != "svg" { try limits.check(info.size, format: .rgba8) }
            if info.frameCount > 1 { try limits.check(frameCount: info.frameCount, of: info.size) }
            if makesPlaceholders { report.placeholders = try placeholders(of: reader, &report) }
            if decodesPixels { report.frames = try digests(of: reader, &report) }
        } catch {
            report.errorCode = error.code.rawValue
            let problem = ProblemText.text(error.message, isLimit: error.code == .exceedsLimit)
            report.error = "\(error.code.rawValue): \(problem)"
        }
        return report
    }

    /// Returns the placeholders of the upright image, or of the first frame of an animation, with colors in sRGB. An
    /// unusable color profile is ignored.
    private func placeholders(
        of reader: any ImageReading, _ report: inout ImageReport
    ) throws(ImageDecodingError) -> PlaceholderReport {
        let resize = ImageProcessors.Resize(to: PixelSize(width: 100, height: 100))
        var options = DecodingOptions(
            limits: limits, target: resize.decodingTarget, tolerance: tolerance, includesAnimation: false)
        options.keepsInks = true
        options.isFiltered = true
        let collector = PixelRowCollector()
        let rows = ColorConvertedRows(to: .sRGB, by: LittleCMSColorConverter(), next: resize.rows(into: collector))
        try reader.checkMemory(options, into: rows)
        do {
            // Rows that were passed on cannot be taken back, so a partial image is decoded as a whole.
            report.take(
                try options.allowsPartial
                    ? reader.decode(options).sendRows(to: rows) : reader.decodeRows(options, into: rows))
        } catch let error as ImageDecodingError {
            throw error
        } catch let error as ImageProcessingError where error.code == .tooLarge {
            throw ImageDecodingError(.outOfMemory, "the image cannot be resized: \(error)")
        } catch {
            throw ImageDecodingError(.corrupt, "the image cannot be resized: \(error)")
        }
        guard let image = collector.image else {
            throw ImageDecodingError(.corrupt, "the decoder produced no image")
        }
        return PlaceholderReport(
            thumbHash: try ThumbHash(image).base64, blurHash: try BlurHash(image).text,
            dominantColor: try image.dominantColor().map { "#\($0.opaqueDescription)" })
    }

    private func digests(
        of reader: any ImageReading, _ report: inout ImageReport
    ) throws(ImageDecodingError) -> [FrameDigest] {
        let options = DecodingOptions(limits: limits, appliesOrientation: false, tolerance: tolerance)
        try reader.checkMemory(options)
        let image = try reader.decode(options)
        report.take(image.damage)
        guard let animation = image.frames else { return [FrameDigest(image.pixels)] }
        var digests: [FrameDigest] = []
        // A damaged frame ends the animation before it.
        while digests.count < animation.frameCount {
            do {
                digests.append(FrameDigest(try animation.frame(at: digests.count)))
            } catch {
                guard digests.count < animation.frameCount else { break }
                // A source of frames may throw the error of a processor, too, of which there is none here.
                throw error as? ImageDecodingError
                    ?? ImageDecodingError(.corrupt, "frame \(digests.count): \(error)")
            }
        }
        report.take(animation.damage)
        return digests
    }
}
