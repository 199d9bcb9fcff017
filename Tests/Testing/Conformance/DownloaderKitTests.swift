import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

/// A kit that cannot fail proves nothing, so each of these downloaders has one fault.
///
/// Not tested: a downloader that waits forever instead of failing. The kit waits with it until the test's time limit.
@Suite(.timeLimit(.minutes(10)))
struct DownloaderKitTests {
    private static let checks = DownloaderConformance.checks + DownloaderConformance.localSourceChecks

    enum Fault: CaseIterable {
        case losesTheLastByte, keepsTheFirstURL, forgetsRedirects, respondsForAnother, losesStatuses, hidesTruncation
        case hidesRefusal, sendsAgain, sharesNothing, sharesUnsafeMethods, sharesAmongUsers, cancelsAllWaiters
        case ignoresEarlyCancellation, cancelsUnrequested, reportsNoProgress, shiftsOffsets, skipsAdmission
        case swallowsAdmissionErrors, forgetsRenewal, announcesOtherFields, forgetsToModify, modifiesInSecret
        case modifiesAgain, makesUpHeads, keepsDataURLs, hidesMissingFiles, hidesErrorsOfClosures, hasBytesOfImages
        case keepsTransfers

        /// The checks that must fail.
        var broken: Set<String> {
            switch self {
            case .losesTheLastByte: ["a download has the whole content of the response and its head"]
            case .keepsTheFirstURL: ["a redirect is followed, and the head has the last URL"]
            case .forgetsRedirects: ["the varying fields include those of redirects, and are nil for any field"]
            case .respondsForAnother: ["each of a hundred concurrent downloads has its own content"]
            case .losesStatuses: ["an error status throws an error with the head of the response"]
            case .hidesTruncation: ["a truncated response throws an error"]
            case .hidesRefusal: ["a refused connection throws an error"]
            case .sendsAgain: ["a request with one attempt is sent once"]
            case .sharesNothing:
                [
                    "concurrent downloads of one source share a transfer",
                    "canceling one of two downloads of a source leaves the other",
                ]
            case .sharesUnsafeMethods: ["requests with an unsafe method share no transfer"]
            case .sharesAmongUsers: ["requests of different users share no transfer"]
            case .cancelsAllWaiters:
                [
                    "canceling one of two downloads of a source leaves the other",
                    "each randomly canceled download has exactly one outcome",
                ]
            case .ignoresEarlyCancellation: ["a task that is already canceled downloads nothing"]
            case .cancelsUnrequested:
                [
                    "each of a hundred concurrent downloads has its own content",
                    "each randomly canceled download has exactly one outcome",
                ]
            case .reportsNoProgress: ["the last progress is the whole content"]
            case .shiftsOffsets:
                ["received bytes, if the downloader passes them on, have their offset in the content"]
            case .skipsAdmission:
                [
                    "a transfer begins when its admission returns",
                    "an admission that throws CancellationError ends the download",
                ]
            case .swallowsAdmissionErrors: ["an admission that throws CancellationError ends the download"]
            case .forgetsRenewal: ["a further attempt, if the downloader makes one, sends the renewed request"]
            case .announcesOtherFields: ["the default fields that the downloader announces are sent"]
            case .forgetsToModify, .modifiesInSecret:
                ["a request is changed as the downloader announces before it is sent"]
            case .modifiesAgain: ["a request that has been changed is not changed again"]
            case .makesUpHeads: ["the content of bytes in memory is the bytes"]
            case .keepsDataURLs: ["the content of a data URL is decoded"]
            case .hidesMissingFiles: ["the content of a file is its bytes, and a missing file throws an error"]
            case .hidesErrorsOfClosures:
                ["the content of a closure is its result, and its error ends the download"]
            case .hasBytesOfImages: ["a decoded image has no bytes, which is an error"]
            case .keepsTransfers: ["canceling the only download of a source ends its transfer"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a downloader with one fault fails exactly the checks of that fault`(fault: Fault) async {
        // Whether a download is in progress when another one is canceled is random.
        let chancy: Set = fault == .cancelsAllWaiters ? ["each randomly canceled download has exactly one outcome"] : []
        #expect(await failures(fault).subtracting(chancy) == fault.broken.subtracting(chancy))
    }

    @Test func `a downloader without a fault fails no check`() async {
        #expect(await failures(nil).isEmpty)
    }

    @Test func `each check of the kit fails for some fault`() {
        #expect(Set(Fault.allCases.flatMap(\.broken)) == Set(Self.checks.map(\.description)))
    }

    /// Runs the checks one after another, because each has a server and a client with a thread.
    private func failures(_ fault: Fault?) async -> Set<String> {
        var failed: Set<String> = []
        for check in Self.checks {
            failed.formUnion(await AlcedoTestingTests.failures(of: [check]) { _ in FaultyDownloader(fault) })
        }
        return failed
    }
}
