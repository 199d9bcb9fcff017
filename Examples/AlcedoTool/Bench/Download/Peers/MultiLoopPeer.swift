import Alcedo
private import CMultiLoop
import FoundationEssentials

/// A loop over libcurl's multi interface in C: what is possible.
///
/// The thread's width is 1, so that one at a time uses the loop.
final class MultiLoopPeer: DownloadPeer {
    private let thread = BlockingExecutor(name: "alcedo.bench.c", width: 1)
    /// Its address.
    private let loop: UInt

    init(_ job: DownloadJob) throws {
        let loop = job.base.withCString { base in
            (job.authorityFile?.path ?? "").withCString { file in
                var options = alcedo_multi_loop_options(
                    base: base, width: job.what.connections, body_size: job.what.byteCount,
                    speaks_http2: job.what.wire == .multiplexed ? 1 : 0,
                    ca_file: job.authorityFile == nil ? nil : file)
                return alcedo_multi_loop_create(&options)
            }
        }
        guard let loop else { throw BenchError(description: "there is no memory for the C loop") }
        self.loop = UInt(bitPattern: loop)
    }

    deinit {
        if let loop = OpaquePointer(bitPattern: loop) { alcedo_multi_loop_destroy(loop) }
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await thread.run { [self] in
            guard let loop = OpaquePointer(bitPattern: loop) else { return .zero }
            var wrong = 0
            let time = ContinuousClock().measure { wrong = alcedo_multi_loop_run(loop, first, count) }
            guard wrong == 0 else { throw BenchError(description: "the C loop got \(wrong) wrong answers") }
            return time
        }
    }
}
