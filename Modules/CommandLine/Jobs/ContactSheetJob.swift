import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// A job that draws many images on one contact sheet and writes it as PNG.
struct ContactSheetJob: Sendable {
    /// The maximum number of pixels of a sheet. The whole sheet is in memory and takes up to 256 MiB.
    private static let pixelLimit = 64 << 20

    var images: ImageList
    /// The configuration of the pipeline. It needs no memory cache, because each image is loaded once.
    var configuration: ImagePipeline.Configuration
    /// The path of the PNG file, or nil for standard output.
    var output: String?
    /// The side of a cell's image in pixels. If nil, 160, or less if the sheet would exceed its maximum number of
    /// pixels.
    var side: Int?
    /// The number of columns. If nil, the sheet is about square, with at most 16 columns for up to 1,000 images.
    var columns: Int?
    /// The maximum number of concurrent loads. Default: 8.
    var maxConcurrentLoads = 8
    /// The processors applied to the images before they are resized to their cells, in order.
    var processors: [any ImageProcessing] = []
    /// Whether an existing file is replaced, unless it is one of the input images.
    var replaces = false
    var report: JobReport
    /// The interruption, after which the sheet is not written.
    var interruption: Interruption?
    /// The counter of loaded images.
    var tally: RunTally?

    /// Runs the job. Prints results to standard output and one line for each problem to standard error. In JSON mode,
    /// the error of an image is part of its result.
    ///
    /// The cell of an image that fails stays empty. No sheet is written if all images fail.
    ///
    /// - Returns: Whether all images succeeded, the sheet was written, and the disk cache reported no write error.
    func run() async -> Bool {
        let drawing = BlockingExecutor(name: "alcedo.sheet", maxConcurrent: 1)
        do {
            let grid = try grid()
            let directory = try await drawing.run { () -> OutputDirectory? in
                guard let output else { return nil }
                let (path, name) = OutputDirectory.split(output)
                let directory = OutputDirectory(path, replaces: replaces, sparing: images.files())
                try directory.prepare(for: [name])
                return directory
            }
            return try await draw(grid, directory, on: drawing)
        } catch {
            if !(interruption?.isRequested ?? false) { report.problem("\(error)") }
            return false
        }
    }

    private func grid() throws -> ContactSheet.Grid {
        let count = images.count
        let wanted = ContactSheet.Grid(side: side ?? 160, columns: columns)
        if side == nil, let grid = wanted.fitting(count, within: Self.pixelLimit) { return grid }
        let size = wanted.size(for: count)
        guard size.pixelCount > Self.pixelLimit else { return wanted }
        let advice =
            wanted.fitting(count, within: Self.pixelLimit).map { "use --cell \($0.side)" }
            ?? "use fewer images: no cell size fits \(count) images"
        throw OutputError(
            description: "a sheet of \(size) pixels exceeds the limit of \(Self.pixelLimit) pixels; \(advice)")
    }

    private func draw(
        _ grid: ContactSheet.Grid, _ directory: OutputDirectory?, on drawing: BlockingExecutor
    ) async throws -> Bool {
        guard var sheet = ContactSheet(grid, count: images.count) else {
            throw OutputError(
                description: "cannot allocate a sheet of \(grid.size(for: images.count)) pixels: out of memory")
        }
        let errors = ErrorObserver()
        var configuration = configuration
        configuration.observers = [errors]
        let pipeline = ImagePipeline(configuration)
        let batch = BatchLoad(
            images, maxConcurrentLoads: maxConcurrentLoads, interruption: interruption,
            showsProgress: report.showsProgress)
        var problems: [Int: String] = [:]
        await batch.run { request, _, progress in
            let response = try await pipeline.load(sized(request, for: grid.side), progress: progress)
            return (response, try await drawing.run { try grid.cellImage(of: response.image) })
        } onResult: { index, result in
            let image = images[index]
            var line = ResultLine(input: image.path)
            switch result {
            case .success(let (response, cellImage)):
                sheet.draw(cellImage, at: index)
                tally?.add()
                (line.size, line.layer) = (response.image.size, response.layer)
                line.byteCount = response.encodedByteCount
                line.damage = response.image.damage
                report.damage(line.damage, of: image.name)
            case .failure(let error):
                problems[index] = image.problem(error)
                line.error = problems[index]
            }
            report.printResult(line)
        }
        await pipeline.flush()
        if !report.isJSON {
            for (index, problem) in problems.sorted(by: { $0.key < $1.key }) {
                report.problem("\(images[index].name): \(problem)")
            }
        }
        guard !batch.isInterrupted else { return false }
        for message in errors.messages { report.problem(message) }
        guard problems.count < images.count else { return false }
        let path = try await drawing.run { [sheet] () -> String? in
            let data = try ImageEncoder.png().encode(sheet.image)
            guard let directory, let output else {
                try Console.output(data)
                return nil
            }
            return try directory.write(data, named: OutputDirectory.split(output).name)
        }
        let size = sheet.image.size
        if let path {
            report.printText(
                "contact sheet: \(path), \(size) pixels, \(images.count) images, \(problems.count) failed\n")
            var line = ResultLine(input: nil)
            (line.output, line.size) = (path, size)
            report.printResult(line)
        }
        return problems.isEmpty && errors.messages.isEmpty
    }

    /// Returns the request for an image of the sheet. Without processors, the image is resized to fit its cell.
    private func sized(_ request: ImageRequest, for side: Int) -> ImageRequest {
        var request = request
        request.decoding.includesAnimation = false
        let size = PixelSize(width: side, height: side)
        request.processors += processors.isEmpty ? [.resize(fitting: size)] : processors
        return request
    }
}
