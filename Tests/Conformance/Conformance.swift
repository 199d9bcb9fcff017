import AlcedoCore
import AlcedoLibc
import FoundationEssentials

/// Runs all decoders over a corpus of valid and bad files with expectations made by other decoders. Files of formats
/// whose package trait is not enabled are skipped and counted. Files with metadata are also converted by each metadata
/// policy. Small images that image software often gets wrong are converted and compared with their right values.
///
/// usage: conformance DIRECTORY [--verbose] [--emulated] [WORD]
///   DIRECTORY    has a manifest.json, and a manifest-formats.json for further formats and for color profiles.
///                The cases are in ../cases/cases.json beside it, if that exists; their paths begin with cases.
///   --emulated   allows twenty times the time, for an emulated processor
///   WORD         only paths with it
@main
enum Conformance {
    private static let usage = "usage: conformance DIRECTORY [--verbose] [--emulated] [WORD]"

    static func main() {
        do {
            try run()
        } catch {
            print("conformance: \(error)")
            exit(2)
        }
    }

    private static func run() throws {
        var words = CommandLine.arguments.dropFirst()
        let isVerbose = words.contains("--verbose")
        let isEmulated = words.contains("--emulated")
        words.removeAll { ["--verbose", "--emulated"].contains($0) }
        guard let directory = words.popFirst(), !directory.hasPrefix("-") else {
            print(usage)
            exit(CommandLine.arguments.contains { $0 == "--help" || $0 == "-h" } ? 0 : 2)
        }
        let word = words.first
        var table = ConformanceTable()
        let valid = ValidCheck(directory: directory)
        var color = ColorCheck(directory: directory)
        let metadata = MetadataCheck()
        var bad = BadCheck()
        if isEmulated { bad.timeLimit *= 20 }
        for file in try Manifest.files(in: directory) where word.map(file.path.contains) ?? true {
            guard CodecRegistry.conformance.contains(format: file.formatName) else {
                table.skip(file.formatName ?? "")
                continue
            }
            if isVerbose { print(file.path) }
            let data = try Data(contentsOf: URL(filePath: "\(directory)/\(file.path)"))
            if let expectation = file.expect {
                let (outcome, problems) = bad.run(file, data)
                color.convert(data)
                let code = outcome.error?.code.rawValue ?? "decoded"
                if isVerbose { print("  \(expectation): \(code) \(outcome.error?.message ?? "")") }
                let all = problems + metadata.problems(file, data)
                table.add(file.path, row: "bad: \(expectation)", outcome: code, all)
            } else {
                var problems = valid.problems(file, data) + color.problems(file, data)
                problems += metadata.problems(file, data)
                let row = file.settled == false ? "\(file.directory), unsettled" : file.directory
                table.add(file.path, row: row, outcome: "decoded", problems, peer: file.wrongPeer)
            }
        }
        let cases = CaseCheck(directory: "\(directory)/../cases", timeLimit: bad.timeLimit)
        try cases.run(only: word, isVerbose: isVerbose, into: &table)
        print(table.text + color.differences.text, terminator: "")
        exit(table.isClean && color.differences.areSmall ? 0 : 1)
    }
}
