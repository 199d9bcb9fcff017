import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

struct OriginWatchTests {
    /// Answers each download on other terms.
    private struct Origin: Downloading {
        let terms: Guarded<[String]>

        func download(
            _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
        ) async throws -> Download {
            let control = terms.change { $0.removeFirst() }
            let head = HTTPResponseHead(
                url: URL(filePath: "/a"), status: 200, fields: ["Cache-Control": control])
            return Download(data: Data(), head: head)
        }
    }

    private let clock = ManualClock()
    private let source = ImageSource.file("/a")

    private func watch(_ terms: String...) -> OriginWatch { OriginWatch(Origin(terms: Guarded(terms)), clock: clock) }

    @Test(arguments: [["no-store", "max-age=60"], ["max-age=60", "no-store"]])
    func `what may be made of either of two downloads has the stricter terms`(controls: [String]) async throws {
        let watch = watch(controls[0], controls[1])
        let request = DownloadRequest(source)

        let (inner, outer) = try await watch.observing(source) {
            _ = try await watch.download(request)
            return try await watch.observing(source) { _ = try await watch.download(request) }.1
        }

        #expect(!outer.allowsStoring && outer.freshUntil == clock.now.addingTimeInterval(60))
        #expect(!inner.allowsStoring)
    }

    @Test func `who joins work that used an earlier download has its terms, too`() async throws {
        let watch = watch("no-store", "max-age=60")
        let request = DownloadRequest(source)

        let (late, _) = try await watch.observing(source) {
            _ = try await watch.download(request)
            return try await watch.observing(source) {
                _ = try await watch.download(request)
                return try await watch.observing(source) {}.1
            }.0
        }

        #expect(!late.allowsStoring)
    }

    @Test func `earlier terms go with the work that used them, however much goes on`() async throws {
        let watch = watch("no-store", "max-age=60")
        let request = DownloadRequest(source)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await watch.observing(source) {
                for _ in 0..<2 { _ = try await watch.download(request) }
                begin.finish()
                for await _ in ends {}
            }.1
        }
        for await _ in begins {}

        let (late, joining) = try await watch.observing(source) {
            end.finish()
            #expect(!(try await first.value.allowsStoring))
            return try await watch.observing(source) {}.1
        }

        #expect(!joining.allowsStoring)
        #expect(late.allowsStoring)
    }

    @Test func `who comes later may use what the last download brought, and nothing is left`() async throws {
        let watch = watch("max-age=60", "max-age=30")
        let request = DownloadRequest(source)

        let (late, early) = try await watch.observing(source) {
            _ = try await watch.download(request)
            return try await watch.observing(source) {}.1
        }
        #expect(early.allowsStoring && early == late)

        // Of a download that nobody waits for nothing is kept, either.
        _ = try await watch.download(request)
        let none = try await watch.observing(source) {}.1
        #expect(none == OriginTerms(allowsStoring: false))
    }

    @Test func `work that fails leaves nothing`() async throws {
        let watch = watch("max-age=60")
        await #expect(throws: Refusal.self) {
            try await watch.observing(source) {
                _ = try await watch.download(DownloadRequest(source))
                throw Refusal(400, "bad")
            }
        }
        let none = try await watch.observing(source) {}.1
        #expect(none == OriginTerms(allowsStoring: false))
    }
}
