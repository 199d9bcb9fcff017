import Alcedo
import ExampleSupport
import Foundation

/// `alcedo bench resize`
struct ResizeBenchCommand {
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
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--python": python = try arguments.value(of: option)
            case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
            case "--size": size = try Self.size(try arguments.value(of: option))
            case "--help", "-h": showsHelp = true
            default: throw UsageError("bench resize has no option '\(option)'")
            }
        }
        try arguments.finish(refusingOthersFor: "bench resize")
    }

    func run() throws -> ExitStatus {
        guard !showsHelp else {
            Console.output(Self.help)
            return .success
        }
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
