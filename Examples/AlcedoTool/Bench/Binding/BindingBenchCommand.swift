import Alcedo
import ExampleSupport

/// `alcedo bench binding`
struct BindingBenchCommand: ToolCommand {
    static let name = "bench binding"
    static let help = """
        usage: alcedo bench binding [--binds N] [--rounds N]

        What binding a request to a view takes of the main thread: the call alone, for a view that did nothing, that loads the
        same, that loads another, and for an image in memory; and all until the image is shown, of a source that has it at
        once. And how many loads a thousand binds of one view begin.

          --binds N   binds a round (default: 10000)
          --rounds N  how often each is measured; the best counts (default: 7)

        """

    private var binds = 10_000
    private var rounds = 7

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--binds": binds = try arguments.number(of: option, in: 10...1_000_000)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        try await BindingBenchmark(binds: binds, rounds: rounds).run()
        return .success
    }
}
