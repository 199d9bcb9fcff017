import Alcedo
import ExampleSupport
import Foundation

/// `alcedo bench resize`
struct ResizeBenchCommand: ToolCommand {
    static let name = "bench resize"
    static let help = """
        usage: alcedo bench resize [--python PATH] [--rounds N] [--size WxH]

        Processors on a picture of noise in memory, in milliseconds, on one thread: resizing to a tenth, with averages
        first and by the filter alone, and the others. With a Python that has Pillow also what Pillow takes for the same,
        in turns in the same run, and our time over its. Scripts/bench-peers makes such a Python and prints its path.

          --python PATH   a Python interpreter with Pillow
          --rounds N      turns of each, of which the best counts (default: 7)
          --size WxH      the picture's size (default: 4000x3000)

        """

    private var python: String?
    private var rounds = 7
    private var size = PixelSize(width: 4000, height: 3000)

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--python": python = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
        case "--size": size = try Self.size(try arguments.value(of: option))
        default: return false
        }
        return true
    }

    func run() throws -> ExitStatus {
        let peer: PillowPeer?
        do {
            peer = try python.map { try PillowPeer(python: $0, size: size) }
        } catch {
            Console.problem("alcedo: \(error)")
            return .failure
        }
        try ResizeBenchmark(size: size, rounds: rounds, peer: peer).run()
        return .success
    }

    private static func size(_ word: String) throws -> PixelSize {
        let sides = word.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (10...20_000).contains($0) }) else {
            throw UsageError("--size takes a width and a height from 10 to 20000, such as 4000x3000, not '\(word)'")
        }
        return PixelSize(width: sides[0], height: sides[1])
    }
}
