import AlcedoProgramSupport
import Foundation

/// Measures the conversions of one file, alternately with Alcedo and libvips.
struct ConversionSpeed {
    /// The maximum ratios: of time and memory to libvips, of three variants to the largest one, and of a cover to an
    /// image of as many pixels.
    private static let goals = (time: 0.75, memory: 1.0, variants: 1.5, cover: 1.2)

    /// The name of the format.
    let name: String
    let path: String
    /// The directory for the images whose quality is measured.
    let scratch: URL
    let python: String?
    let peer: PythonConversions?
    let rounds: Int

    static func printHeader() {
        Console.output(
            BenchTable.row([
                "", "Alcedo, ms", "libvips, ms", "vs libvips", "processor time", "goal", "Alcedo, MiB", "libvips, MiB",
                "vs libvips", "goal", "PSNR, dB: Alcedo, libvips",
            ]))
    }

    func run() async throws {
        let data = try Data(contentsOf: URL(filePath: path))
        var contenders = ConversionTask.allCases.map { task in
            AlternatingRuns.Contender("Alcedo \(task)") { _ in
                try await ThumbnailTime.of { _ = try await task.run(data) }
            }
        }
        // libvips may be without the format.
        let peer = peer.flatMap { peer in (try? peer.run(.inside, path)) == nil ? nil : peer }
        if let peer {
            contenders += ConversionTask.compared.map { task in
                .init("libvips \(task)") { try peer.run(task, $0) }
            }
        }
        let runs = try await AlternatingRuns([path], rounds: rounds, contenders)
        let quality = try peer.flatMap { _ in python }.map { try ConversionQuality(python: $0) }
        for task in ConversionTask.allCases {
            let isCompared = ConversionTask.compared.contains(task)
            let decibels = isCompared ? try await quality?.values(of: path, task, data, in: scratch) : nil
            let memory = (own: try ownMemory(task), peer: isCompared ? try peer?.memory(task, path) : nil)
            report(task, runs, decibels, memory)
        }
        let own: [(ConversionTask, ConversionTask, String, Double)] = [
            (.variants, .largest, "three variants relative to the largest", Self.goals.variants),
            (.cover, .equal, "cover relative to inside of as many pixels", Self.goals.cover),
        ]
        for (task, base, text, limit) in own {
            guard let ratio = runs.ratio("Alcedo \(task)", to: ["Alcedo \(base)"]) else { continue }
            BenchFigure("conversions, \(name): \(text)", ratio, .atMost(limit)).record()
            Console.output("\(name), \(text): \(AlternatingRuns.text(ratio)), at most \(limit)\n")
        }
    }

    private func report(
        _ task: ConversionTask, _ runs: AlternatingRuns, _ decibels: (own: Double, peer: Double)?,
        _ memory: (own: Int, peer: Int?)
    ) {
        let (own, peers) = ("Alcedo \(task)", ["libvips \(task)"])
        let time = runs.ratio(own, to: peers)
        let memoryRatio = memory.peer.map { Double(memory.own) / Double(max(1, $0)) }
        func record(_ text: String, _ value: Double?, _ goal: BenchFigure.Goal) {
            if let value { BenchFigure("conversions, \(name), \(task): \(text)", value, goal).record() }
        }
        record("time relative to libvips", time, .atMost(Self.goals.time))
        record("memory relative to libvips", memoryRatio, .atMost(Self.goals.memory))
        if let decibels { record("PSNR in dB", decibels.own, .atLeast((decibels.peer * 10).rounded() / 10)) }
        func goal(_ limit: Double, _ value: Double?) -> String { value == nil ? "" : "at most \(limit)" }
        func mebibytes(_ byteCount: Int?) -> String { AlternatingRuns.text(byteCount.map { Double($0) / 1_048_576 }) }
        Console.output(
            BenchTable.row([
                "\(name), \(task)", AlternatingRuns.text(runs.median(own)), AlternatingRuns.text(runs.median(peers[0])),
                AlternatingRuns.text(time), AlternatingRuns.text(runs.ratio(own, to: peers, \.processor)),
                goal(Self.goals.time, time), mebibytes(memory.own), mebibytes(memory.peer),
                AlternatingRuns.text(memoryRatio), goal(Self.goals.memory, memoryRatio),
                decibels.map { "\(BenchTable.rounded($0.own)), \(BenchTable.rounded($0.peer))" } ?? "-",
            ]))
    }

    /// Returns the growth of a new process, in bytes.
    private func ownMemory(_ task: ConversionTask) throws -> Int {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let words = [ConvertBenchCommand.name, "--file", path, "--task", task.rawValue]
        return try PythonConversions.byteCount(in: try BenchProcess.output(of: program, words))
    }
}
