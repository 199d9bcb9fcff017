public import Alcedo
public import FoundationEssentials

/// Draws many images on one picture, and writes it.
public struct ContactSheetJob: Sendable {
    /// Most pixels of a sheet, which is in memory as a whole: 256 MiB.
    private static let pixelLimit = 64 << 20

    /// Who speaks when something is wrong.
    public var program: String
    public var images: [ImageArgument]
    /// Needs no memory cache: each image is loaded once.
    public var configuration: ImagePipeline.Configuration
    /// The file, a PNG.
    public var output: URL
    /// Side of a cell's picture, in pixels.
    public var side: Int
    /// Cells in a row; nil for as many as make the sheet square, at most 16.
    public var columns: Int?
    /// What is done to the images before they are fitted into their cells, in order.
    public var processors: [any ImageProcessing] = []
    /// When it has come the sheet is not drawn.
    public var interruption: Interruption?

    public init(
        program: String, images: [ImageArgument], configuration: ImagePipeline.Configuration, output: URL, side: Int,
        columns: Int?
    ) {
        self.program = program
        self.images = images
        self.configuration = configuration
        self.output = output
        self.side = side
        self.columns = columns
    }

    /// Runs the job. Results go to standard output, each problem is a line on standard error.
    ///
    /// - Returns: Whether everything went well. An image that fails leaves its cell empty.
    public func run() async -> Bool {
        let grid = ContactSheet.Grid(side: side, columns: columns)
        let size = grid.size(for: images.count)
        guard size.pixelCount <= Self.pixelLimit else {
            Console.problem("\(program): a sheet of \(size) pixels is more than \(Self.pixelLimit); try smaller cells")
            return false
        }
        let path = output.path(percentEncoded: false)
        if let file = FileIdentity(path: path), FileIdentity.inputs(of: images).contains(file) {
            Console.problem("\(program): \(path) is one of the images, and stays as it is")
            return false
        }
        let troubles = TroubleObserver()
        var configuration = configuration
        configuration.observer = troubles
        let pipeline = ImagePipeline(configuration)
        let batch = BatchLoad(
            images: images, width: 8, interruption: interruption, change: { request, _ in sized(request) })
        let drawing = BlockingExecutor(name: "alcedo.sheet", width: 1)
        var pictures = [DecodedImage?](repeating: nil, count: images.count)
        var problems: [Int: String] = [:]
        await batch.run(with: pipeline) { index, result in
            do {
                let image = try result.get().image
                pictures[index] = try await drawing.run { try grid.picture(of: image) }
            } catch {
                problems[index] = images[index].withoutPassword("\(error)")
            }
        }
        await pipeline.flush()
        guard !batch.isInterrupted else { return false }
        for (index, problem) in problems.sorted(by: { $0.key < $1.key }) {
            Console.problem("\(program): \(images[index].name): \(problem)")
        }
        for trouble in troubles.messages { Console.problem("\(program): \(trouble)") }
        guard problems.count < images.count else { return false }
        do {
            try await drawing.run { [pictures] in try write(ContactSheet(grid: grid, pictures: pictures)) }
        } catch {
            if !batch.isInterrupted { Console.problem("\(program): \(error)") }
            return false
        }
        Console.output("contact sheet: \(path), \(size) pixels, \(images.count) images, \(problems.count) failed\n")
        return problems.isEmpty && troubles.messages.isEmpty
    }

    /// Decodes at the cell's size where nothing else is done to the image.
    private func sized(_ request: ImageRequest) -> ImageRequest {
        var request = request
        request.decoding.includesAnimation = false
        if processors.isEmpty { request.decoding.target = TargetSize(PixelSize(width: side, height: side)) }
        request.processors += processors
        return request
    }

    private func write(_ sheet: ContactSheet) throws {
        guard let image = sheet.draw() else { throw OutputError(description: "there is no memory for the sheet") }
        let data = try PNGEncoder().encode(image)
        try OutputFolder(url: output.deletingLastPathComponent()).write(
            data, named: output.lastPathComponent, sparing: FileIdentity.inputs(of: images))
    }
}
