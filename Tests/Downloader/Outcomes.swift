import AlcedoCore
import AlcedoDownloader
import AlcedoTesting
import TestSupport

/// The outcomes of completions, as short text, and how often they were called.
final class Outcomes: Sendable {
    private let recorded = Watched<[String: [String]]>([:])
    /// Signals each outcome.
    private let bell = AsyncStream<Void>.makeStream()

    var texts: [String: [String]] { recorded.value }

    func record(_ name: String, _ result: Result<Int, any Error>) {
        let text =
            switch result {
            case .success(let count): "\(count) bytes"
            case .failure(is CancellationError): "cancelled"
            case .failure(let error as DownloadError): "\(error.code)"
            case .failure(let error): "\(error)"
            }
        recorded.update { $0[name, default: []].append(text) }
        bell.continuation.yield()
    }

    /// Returns once this many outcomes have arrived in all. For one task.
    func waitFor(_ count: Int) async throws {
        guard recorded.value.values.map(\.count).reduce(0, +) < count else { return }
        for await _ in bell.stream where recorded.value.values.map(\.count).reduce(0, +) >= count { return }
        throw CancellationError()
    }
}
