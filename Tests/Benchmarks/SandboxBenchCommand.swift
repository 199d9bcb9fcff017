import Alcedo
import AlcedoProgramSupport
#if Sandbox
    import AlcedoSandbox
#endif
import AlcedoTesting
import FoundationEssentials

/// `alcedo-bench sandbox`
struct SandboxBenchCommand: ProgramCommand {
    static let name = "sandbox"
    static let help = """
        usage: alcedo-bench sandbox [--rounds N]

        Decodes a JPEG of 2 megapixels and a PNG of 64 x 64 pixels, alternately in this process and in a worker of the
        sandbox, and prints the best times in microseconds. Needs a build with --traits Sandbox.

          --rounds N  decode each image N times in each way (default: 200)

        """

    private var rounds = 200

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        guard option == "--rounds" else { return false }
        rounds = try arguments.number(of: option, in: 1...10_000)
        return true
    }

    func run() throws -> ExitStatus {
        #if Sandbox
            try SandboxBenchmark(rounds: rounds).run()
            return .success
        #else
            Console.problem("alcedo-bench: sandbox needs a build with --traits Sandbox")
            return .failure
        #endif
    }
}

#if Sandbox
    /// A benchmark that measures decoders in a worker alternately with the same decoders in this process.
    private struct SandboxBenchmark {
        let rounds: Int

        func run() throws {
            var configuration = SandboxConfiguration()
            configuration.workerCount = 1
            let sandbox = try Sandbox(configuration)
            defer { sandbox.shutDown() }
            Console.output(BenchTable.row(["", "process", "worker", "worker / process"]))
            let jpeg = try measure(.jpeg, PixelSize(width: 1_600, height: 1_250), in: sandbox)
            BenchFigure("JPEG of 2 megapixels: time in the sandbox", jpeg.worker / jpeg.process, .atMost(1.1)).record()
            let png = try measure(.png, PixelSize(width: 64, height: 64), in: sandbox)
            BenchFigure(
                "PNG of 64 x 64 pixels: additional time in the sandbox", max(1, png.worker - png.process), unit: " µs",
                .atMost(150)
            ).record()
        }

        /// Returns the best times of a decode in microseconds, and prints them.
        private func measure(
            _ format: ImageFormat, _ size: PixelSize, in sandbox: Sandbox
        ) throws -> (process: Double, worker: Double) {
            let codecs = CodecRegistry.standard
            let confined = codecs.sandboxed(in: sandbox)
            guard let data = try codecs.encoder(for: format, quality: 0.9)?.encode(.coordinates(size)) else {
                throw ImageDecodingError(.unknownFormat, "there is no encoder for \(format)")
            }
            var best = (process: Double.infinity, worker: Double.infinity)
            let clock = ContinuousClock()
            // The additional first round warms both up and is not counted.
            for round in 0...rounds {
                // The order alternates, so that neither always runs with the caches that the other has filled.
                for pass in 0..<2 {
                    let isConfined = (round + pass) % 2 == 0
                    let registry = isConfined ? confined : codecs
                    let time = BenchTable.microseconds(try clock.measure { _ = try registry.decode(data) })
                    guard round > 0 else { continue }
                    if isConfined {
                        best.worker = min(best.worker, time)
                    } else {
                        best.process = min(best.process, time)
                    }
                }
            }
            Console.output(
                BenchTable.row([
                    "\(format) \(size)", "\(BenchTable.rounded(best.process))", "\(BenchTable.rounded(best.worker))",
                    "\((best.worker / best.process * 100).rounded() / 100)",
                ]))
            return best
        }
    }
#endif
