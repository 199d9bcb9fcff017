import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
#if Sandbox
    import AlcedoSandbox
#endif
import AlcedoTesting
import CProcessRun
import FoundationEssentials

/// `alcedo-bench start`
struct StartBenchCommand: ProgramCommand {
    static let name = "start"
    static let help = """
        usage: alcedo-bench start [options]

        Measures 'alcedo --version' from its start to its end, alternately with /bin/true: the time, the processor
        time, the peak of resident memory, and the number of shared libraries. With --traits Sandbox, also a worker of
        the sandbox, which is the same program: the time until it is confined and has decoded an image of one pixel, and
        the peak of its resident memory. Prints medians. The program alcedo must be in the directory of this program, or
        --alcedo names it.

          --alcedo PATH  measure the program PATH, such as one that is linked with Swift's static libraries; may be
                         repeated
          --rounds N     start each program N times (default: 50)

        """

    private var programs: [String] = []
    private var rounds = 50

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--alcedo": programs.append(try arguments.value(of: option))
        case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if programs.isEmpty { programs = [BenchProcess.neighbor("alcedo")] }
    }

    func run() async throws -> ExitStatus {
        let commands = programs.map { ("\($0) --version", $0, ["--version"]) } + [("/bin/true", "/bin/true", [])]
        let contenders = try commands.map { title, program, words in
            // The program is run once before, so that an error names it.
            let memory = try BenchProcess.memory(of: program, words)
            guard memory.status == 0 else { throw BenchError(description: "\(title): exit status \(memory.status)") }
            return AlternatingRuns.Contender(title) { _ in
                let time = try BenchProcess.time(of: program, words)
                return ThumbnailTime(wall: time.wall, processor: time.processor)
            }
        }
        let runs = try await AlternatingRuns([""], rounds: rounds, contenders)
        Console.output(BenchTable.row(["ms", "processor, ms", "resident, MiB", "libraries", "goal", "program"]))
        for (title, program, words) in commands {
            let memory = try BenchProcess.memory(of: program, words)
            report(
                title, isMeasured: title == commands[0].0 ? "start of alcedo --version" : nil, runs.median(title),
                runs.median(title, \.processor), Int(memory.resident), Int(memory.library_count))
        }
        #if Sandbox
            for program in programs {
                let worker = try WorkerStart(program: program, rounds: rounds).measure()
                report(
                    "worker of \(program)", isMeasured: program == programs[0] ? "start of a sandbox worker" : nil,
                    worker.milliseconds, nil, worker.resident, nil)
            }
        #endif
        return .success
    }

    /// Prints a row. Records its time and its memory if they have a name in the report.
    private func report(
        _ title: String, isMeasured name: String?, _ wall: Double?, _ processor: Double?, _ resident: Int,
        _ libraryCount: Int?
    ) {
        let mebibytes = Double(resident) / Double(1 << 20)
        if let name, let wall {
            BenchFigure("\(name): time", wall, unit: " ms", .atMost(10)).record()
            BenchFigure("\(name): resident memory", mebibytes, unit: " MiB", .atMost(12)).record()
        }
        Console.output(
            BenchTable.row([
                AlternatingRuns.text(wall), AlternatingRuns.text(processor), AlternatingRuns.text(mebibytes),
                libraryCount.map { "\($0)" } ?? "-", name == nil ? "-" : "10 ms, 12 MiB", title,
            ]))
    }
}

#if Sandbox
    /// Measures the start of a worker of the sandbox.
    private struct WorkerStart {
        let program: String
        let rounds: Int

        /// Returns the median time until a worker has decoded an image of one pixel, and the maximum of its resident
        /// memory.
        func measure() throws -> (milliseconds: Double, resident: Int) {
            let data = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 1, height: 1)))
            var configuration = SandboxConfiguration()
            (configuration.workerCount, configuration.executable) = (1, program)
            var (times, resident) = ([Double](), 0)
            // The additional first round warms up and is not counted.
            for round in 0...rounds {
                let start = ContinuousClock.now
                let sandbox = try Sandbox(configuration)
                defer { sandbox.shutDown() }
                _ = try CodecRegistry.standard.sandboxed(in: sandbox).decode(data)
                let time = ContinuousClock.now - start
                guard round > 0 else { continue }
                times.append(time / .milliseconds(1))
                resident = max(resident, Self.peakOfChildren())
            }
            guard let median = DownloadSpeed.median(times), resident > 0 else {
                throw BenchError(description: "cannot read the memory of a worker")
            }
            return (median, resident)
        }

        /// Returns the maximum of the peaks of resident memory of this process's children, in bytes. The worker is the
        /// only one.
        private static func peakOfChildren() -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.filter { $0.allSatisfy(\.isNumber) }.map { name in
                guard let text = try? String(contentsOfFile: "/proc/\(name)/status", encoding: .utf8) else { return 0 }
                let fields = text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
                func value(_ field: String) -> Int {
                    fields.first { $0.first == field[...] }.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0
                }
                return value("PPid:") == Int(getpid()) ? value("VmHWM:") << 10 : 0
            }.max() ?? 0
        }
    }
#endif
