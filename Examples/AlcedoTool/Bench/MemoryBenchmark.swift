import Alcedo
import AlcedoTesting
import ExampleSupport
import FoundationEssentials

/// What decoding one image adds to the process's resident memory. The first measurement of a process is the true one:
/// later ones reuse what was freed.
struct MemoryBenchmark {
    let codecs: CodecRegistry
    let target: TargetSize?

    /// Decodes the image, plays it twice if it moves, and returns lines that say what it took.
    func measure(_ data: Data) throws -> String {
        let info = try codecs.inspect(data)
        let options = DecodingOptions(target: target)
        let predicted = try codecs.decodingByteCount(data, options: options)
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
            foretold: \(Self.mebibytes(predicted))

            """
    }

    private static func mebibytes(_ count: Int) -> String { "\(Double((count * 100) >> 20) / 100) MiB" }
}
