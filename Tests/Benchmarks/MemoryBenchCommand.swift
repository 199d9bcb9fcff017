import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials

/// `alcedo-bench memory`
struct MemoryBenchCommand: ProgramCommand {
    static let name = "memory"
    static let help = """
        usage: alcedo-bench memory FILE [--size N]

        Decodes one image, plays it if it is animated, and prints the growth of resident memory.

          --size N    fit the image into N x N pixels (default: full size)

        """

    private var file = ""
    private var longestSide: Int?

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        guard option == "--size" else { return false }
        longestSide = try arguments.number(of: option, in: 1...65_535)
        return true
    }

    mutating func finish(_ words: [String]) throws {
        guard words.count == 1 else { throw UsageError("memory needs one file") }
        file = words[0]
    }

    func run() async throws -> ExitStatus {
        let configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        let data = try await configuration.downloader.download(DownloadRequest(.file(file))).data
        let target = longestSide.map { TargetSize(width: $0, height: $0) }
        Console.output(try MemoryBenchmark(codecs: .programs, target: target).measure(data))
        return .success
    }
}

/// Measures the resident memory that decoding one image adds to the process. Only the first measurement of a process is
/// valid, because later ones reuse freed memory.
private struct MemoryBenchmark {
    let codecs: CodecRegistry
    let target: TargetSize?

    /// Decodes the image, plays it twice if it is animated, and returns lines with the memory that this took.
    func measure(_ data: Data) throws -> String {
        let info = try codecs.inspect(data)
        let options = DecodingOptions(target: target)
        let predicted = try codecs.open(data, limits: options.limits).decodingByteCount(options)
        let (size, growth) = try ResidentMemory.growth {
            let image = try codecs.decode(data, options: options)
            for _ in 0..<2 {
                for index in 0..<(image.frames?.frameCount ?? 0) { _ = try image.frames?.frame(at: index) }
            }
            return image.size
        }
        let canvas = PixelBuffer.byteCount(size: info.size, format: .rgba8) ?? 1
        let canvases = Double(growth * 100 / canvas) / 100
        return """
            \(info.format), \(info.size) pixels, \(info.frameCount) frames, decoded to \(size)
            resident memory rose by \(Self.mebibytes(growth)): \(canvases) full-size canvases
            predicted: \(Self.mebibytes(predicted))

            """
    }

    private static func mebibytes(_ count: Int) -> String { "\(Double((count * 100) >> 20) / 100) MiB" }
}
