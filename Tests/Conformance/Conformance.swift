import AlcedoCore
import FoundationEssentials
import Glibc

/// Runs all decoders over a corpus of valid and bad files with expectations made by other decoders.
///
/// usage: conformance DIRECTORY [--verbose] [WORD]    the directory has a manifest.json; only paths with WORD
@main
enum Conformance {
    static func main() throws {
        var words = CommandLine.arguments.dropFirst()
        let isVerbose = words.contains("--verbose")
        words.removeAll { $0 == "--verbose" }
        guard let directory = words.popFirst() else {
            print("usage: conformance DIRECTORY [--verbose] [WORD]")
            exit(2)
        }
        let word = words.first
        var table = ConformanceTable()
        let valid = ValidCheck(directory: directory)
        let bad = BadCheck()
        for file in try Manifest(directory: directory).files where word.map(file.path.contains) ?? true {
            if isVerbose { print(file.path) }
            let data = try Data(contentsOf: URL(filePath: "\(directory)/\(file.path)"))
            if let expectation = file.expect {
                let (outcome, problems) = bad.run(file, data)
                let code = outcome.error?.code.rawValue ?? "decoded"
                if isVerbose { print("  \(expectation): \(code) \(outcome.error?.message ?? "")") }
                table.add(file.path, row: "bad: \(expectation)", outcome: code, problems)
            } else {
                let problems = valid.problems(file, data)
                let row = file.settled == false ? "\(file.folder), unsettled" : file.folder
                table.add(file.path, row: row, outcome: "decoded", problems)
            }
        }
        print(table.text, terminator: "")
        exit(table.isClean ? 0 : 1)
    }
}
