import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

struct OriginPolicyTrackerTests {
    /// Responds to each download with other directives.
    private struct Origin: Downloading {
        let policy: Watched<[String]>

        func download(
            _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
        ) async throws -> Download {
            let control = policy.update { $0.removeFirst() }
            let head = HTTPResponseHead(
                url: URL(filePath: "/a"), status: 200, fields: ["Cache-Control": control])
            return Download(data: Data(), head: head)
        }
    }

    private let clock = ManualClock()
    private let source = ImageSource.file("/a")

    private func tracker(_ policy: String...) -> OriginPolicyTracker {
        OriginPolicyTracker(
            Origin(policy: Watched(policy)), waits: OriginWaits(), clock: clock)
    }

    @Test(arguments: [["no-store", "max-age=60"], ["max-age=60", "no-store"]])
    func `a thumbnail that may use two downloads has the stricter directives`(controls: [String]) async throws {
        let tracker = tracker(controls[0], controls[1])
        let request = DownloadRequest(source)

        let (inner, outer) = try await tracker.observing(source) {
            _ = try await tracker.download(request)
            return try await tracker.observing(source) { _ = try await tracker.download(request) }.1
        }

        #expect(!outer.allowsStoring)
        #expect(outer.freshUntil == clock.now.addingTimeInterval(60))
        #expect(!inner.allowsStoring)
    }

    @Test func `a request that joins work over an earlier download has its directives, too`() async throws {
        let tracker = tracker("no-store", "max-age=60")
        let request = DownloadRequest(source)

        let (late, _) = try await tracker.observing(source) {
            _ = try await tracker.download(request)
            return try await tracker.observing(source) {
                _ = try await tracker.download(request)
                return try await tracker.observing(source) {}.1
            }.0
        }

        #expect(!late.allowsStoring)
    }

    @Test func `earlier directives are released with the work that used them`() async throws {
        let tracker = tracker("no-store", "max-age=60")
        let request = DownloadRequest(source)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await tracker.observing(source) {
                for _ in 0..<2 { _ = try await tracker.download(request) }
                begin.finish()
                for await _ in ends {}
            }.1
        }
        for await _ in begins {}

        let (late, joining) = try await tracker.observing(source) {
            end.finish()
            #expect(!(try await first.value.allowsStoring))
            return try await tracker.observing(source) {}.1
        }

        #expect(!joining.allowsStoring)
        #expect(late.allowsStoring)
    }

    @Test func `a later request may use the last download, and nothing remains`() async throws {
        let tracker = tracker("max-age=60", "max-age=30")
        let request = DownloadRequest(source)

        let (late, early) = try await tracker.observing(source) {
            _ = try await tracker.download(request)
            return try await tracker.observing(source) {}.1
        }
        #expect(early.allowsStoring)
        #expect(early == late)

        // For a download without waiters nothing is kept either.
        _ = try await tracker.download(request)
        let none = try await tracker.observing(source) {}.1
        #expect(none == OriginCachePolicy(allowsStoring: false))
    }

    @Test func `failed work leaves no directives`() async throws {
        let tracker = tracker("max-age=60")
        await #expect(throws: HTTPError.self) {
            try await tracker.observing(source) {
                _ = try await tracker.download(DownloadRequest(source))
                throw HTTPError(400, "bad")
            }
        }
        let none = try await tracker.observing(source) {}.1
        #expect(none == OriginCachePolicy(allowsStoring: false))
    }
}
