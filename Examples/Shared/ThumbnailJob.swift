public import Alcedo
public import FoundationEssentials

/// Makes a small picture of each of many images, and writes them to a folder.
public struct ThumbnailJob: Sendable {
    /// Who speaks when something is wrong.
    public var program: String
    public var images: [ImageArgument]
    /// Needs no memory cache: each image is loaded once.
    public var configuration: ImagePipeline.Configuration
    public var outputDirectory: URL
    /// Longest side of a thumbnail, in pixels. Smaller images stay as they are.
    public var side: Int
    /// What is done to the thumbnails then, in order.
    public var processors: [any ImageProcessing] = []
    public var encoder: any ImageEncoding
    /// Ends the names of the files, without a dot.
    public var fileExtension: String
    /// Most loads, and most results that are being encoded, at once. Default: 8.
    public var width = 8
    /// When it has come no more thumbnails are made.
    public var interruption: Interruption?

    public init(
        program: String, images: [ImageArgument], configuration: ImagePipeline.Configuration, outputDirectory: URL,
        side: Int, encoder: any ImageEncoding, fileExtension: String
    ) {
        self.program = program
        self.images = images
        self.configuration = configuration
        self.outputDirectory = outputDirectory
        self.side = side
        self.encoder = encoder
        self.fileExtension = fileExtension
    }

    /// Runs the job. A summary goes to standard output, each problem is a line on standard error.
    ///
    /// - Returns: Whether everything went well. An image that fails does not keep the others from their thumbnails.
    public func run() async -> Bool {
        let start = ContinuousClock.now
        let troubles = TroubleObserver()
        var configuration = configuration
        configuration.observer = troubles
        let pipeline = ImagePipeline(configuration)
        let batch = BatchLoad(
            images: images, width: width, interruption: interruption, change: { request, _ in sized(request) })
        let names = fileNames()
        let inputs = FileIdentity.inputs(of: images)
        let encoding = BlockingExecutor(name: "alcedo.encode", width: configuration.decodingWidth)
        let summary = await withTaskGroup(of: Outcome.self) { group in
            var summary = ThumbnailSummary()
            var running = 0
            await batch.run(with: pipeline) { index, result in
                switch result {
                case .failure(let error): summary.problems[index] = "\(error)"
                case .success(let response):
                    // Pictures that wait for the encoder are bounded, too.
                    if running >= width, let outcome = await group.next() {
                        summary.add(outcome)
                        running -= 1
                    }
                    running += 1
                    group.addTask {
                        await write(response, index, named: names[index], sparing: inputs, on: encoding)
                    }
                }
            }
            for await outcome in group { summary.add(outcome) }
            return summary
        }
        await pipeline.flush()
        guard !batch.isInterrupted else { return false }
        let problems = summary.problems.sorted { $0.key < $1.key }.map { index, problem in
            "\(images[index].name): \(images[index].withoutPassword(problem))"
        }
        for problem in problems + troubles.messages { Console.problem("\(program): \(problem)") }
        Console.output(summary.text(in: ContinuousClock.now - start))
        return problems.isEmpty && troubles.messages.isEmpty
    }

    typealias Outcome = (index: Int, bytesIn: Int, result: Result<Int, any Error>)

    private func sized(_ request: ImageRequest) -> ImageRequest {
        let size = PixelSize(width: side, height: side)
        var request = request
        request.decoding.target = TargetSize(size)
        request.decoding.includesAnimation = false
        request.processors += [Resize(to: size)] + processors
        return request
    }

    private func write(
        _ response: ImageResponse, _ index: Int, named name: String, sparing inputs: Set<FileIdentity>,
        on encoding: BlockingExecutor
    ) async -> Outcome {
        let bytesIn = response.encodedByteCount ?? 0
        do {
            let count = try await encoding.run {
                let data = try encoder.encode(response.image)
                try OutputFolder(url: outputDirectory).write(data, named: name, sparing: inputs)
                return data.count
            }
            return (index, bytesIn, .success(count))
        } catch {
            return (index, bytesIn, .failure(error))
        }
    }

    /// A name for each image's thumbnail, no two alike.
    private func fileNames() -> [String] {
        var taken: Set<String> = []
        return images.map { image in
            let stem = SafeName(image.name).stem
            var name = "\(stem).\(fileExtension)"
            var number = 2
            while !taken.insert(name).inserted {
                name = "\(stem)-\(number).\(fileExtension)"
                number += 1
            }
            return name
        }
    }
}
