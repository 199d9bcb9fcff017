import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo bench`
struct BenchCommand {
    private static let help = """
        usage: alcedo bench decode DIR [--rounds N]

        Decodes every JPEG and PNG of DIR at full size, by our decoders and by a plain C loop over the same library in
        the same process, in turns, and prints our best time over the C loop's best time.

          --rounds N   turns an image, each of both (default: 15)

        """

    private var directory: String?
    private var rounds = 15

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        var showsHelp = false
        while let option = arguments.nextOption() {
            switch option {
            case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
            case "--help", "-h": showsHelp = true
            default: throw UsageError("bench has no option '\(option)'")
            }
        }
        try arguments.finish()
        guard !showsHelp else { return }
        guard arguments.rest.first == "decode" else { throw UsageError("bench can do this: decode DIR") }
        guard arguments.rest.count == 2 else { throw UsageError("bench decode needs one directory") }
        directory = arguments.rest[1]
    }

    func run() throws -> ExitStatus {
        guard let directory else {
            Console.output(Self.help)
            return .success
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            Console.problem("alcedo: cannot list \(directory)")
            return .failure
        }
        var benchmark = DecodeBenchmark(rounds: rounds)
        for name in names {
            guard let data = try? Data(contentsOf: URL(filePath: "\(directory)/\(name)")) else { continue }
            benchmark.measure(data, name: name)
        }
        guard benchmark.hasResults else {
            Console.problem("alcedo: no JPEG or PNG in \(directory) that both can decode")
            return .failure
        }
        Console.output(benchmark.summary)
        return .success
    }
}
