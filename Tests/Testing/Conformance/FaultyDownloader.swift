import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A correct downloader with one fault.
final class FaultyDownloader: Downloading {
    private let fault: DownloaderKitTests.Fault?
    private let downloader = Downloader(transport: CURLTransport())

    init(_ fault: DownloaderKitTests.Fault?) { self.fault = fault }

    var modifiesRequests: Bool { fault == .modifiesAgain || fault == .forgetsToModify }

    func modified(_ request: HTTPRequest) async throws -> HTTPRequest {
        guard modifiesRequests || fault == .modifiesInSecret else { return request }
        var request = request
        request.fields.append("X-Token", "1")
        return request
    }

    func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest {
        var request = downloader.addingDefaultFields(to: request)
        if fault == .announcesOtherFields { request.fields["X-Default"] = "1" }
        return request
    }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let request = try await changed(request)
        do {
            let download = try await performed(request, fault == .reportsNoProgress ? nil : progress)
            return changed(download, of: request)
        } catch let error as DownloadError {
            guard let data = content(insteadOf: error, of: request.source) else { throw changed(error) }
            return Download(data: data)
        }
    }

    private func performed(
        _ request: DownloadRequest, _ progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let downloader = fault == .sharesNothing ? Downloader(transport: CURLTransport()) : downloader
        switch fault {
        case .ignoresEarlyCancellation where Task.isCancelled:
            return try await Task { try await downloader.download(request, progress: progress) }.value
        case .cancelsAllWaiters:
            return try await withTaskCancellationHandler {
                try await downloader.download(request, progress: progress)
            } onCancel: {
                downloader.cancelAll()
            }
        case .keepsTransfers:
            try Task.checkCancellation()
            let result = Watched<Result<Download, any Error>?>(nil)
            Task {
                do {
                    let download = try await downloader.download(request, progress: progress)
                    result.update { $0 = .success(download) }
                } catch {
                    result.update { $0 = .failure(error) }
                }
            }
            try await result.waitUntil { $0 != nil }
            guard let outcome = result.value else { throw CancellationError() }
            return try outcome.get()
        case .cancelsUnrequested where request.isFor("/17"): throw CancellationError()
        case .sendsAgain:
            do {
                return try await downloader.download(request, progress: progress)
            } catch let error as DownloadError where error.code == .status(503) {
                return try await downloader.download(request, progress: progress)
            }
        default: return try await downloader.download(request, progress: progress)
        }
    }

    private func changed(_ request: DownloadRequest) async throws -> DownloadRequest {
        var request = request
        if fault == .skipsAdmission { request.admission = nil }
        if fault == .swallowsAdmissionErrors, let admission = request.admission {
            request.admission = { try? await admission() }
        }
        if fault == .forgetsRenewal { request.renewal = nil }
        if fault == .shiftsOffsets, let onBytes = request.onBytes { request.onBytes = { onBytes($0 + 1, $1) } }
        guard case .http(var http) = request.source else { return request }
        switch fault {
        case .modifiesAgain: http = try await modified(http)
        case .sharesUnsafeMethods: http.method = .get
        case .sharesAmongUsers: http.fields["Authorization"] = nil
        case .respondsForAnother where request.isFor("/77"):
            http.url = URL(string: String(http.url.absoluteString.dropLast())) ?? http.url
        default: break
        }
        request.source = .http(http)
        return request
    }

    private func changed(_ download: Download, of request: DownloadRequest) -> Download {
        var download = download
        switch fault {
        case .losesTheLastByte where download.data.count == 300_000: download.data.removeLast()
        case .keepsTheFirstURL:
            if case .http(let http) = request.source { download.head?.url = http.url }
        case .forgetsRedirects where request.isFor("/here"): download.varyingFieldNames = ["accept"]
        case .makesUpHeads: download.head = download.head ?? HTTPResponseHead(url: URL(filePath: "/"), status: 200)
        case .keepsDataURLs:
            if case .dataURL(let text) = request.source { download.data = Data(text.utf8) }
        default: break
        }
        return download
    }

    private func changed(_ error: DownloadError) -> any Error {
        fault == .losesStatuses ? HTTPTransportError(.failed, "\(error)") : error
    }

    /// Returns the content of a faulty downloader that hides the error.
    private func content(insteadOf error: DownloadError, of source: ImageSource) -> Data? {
        let isHidden =
            switch (fault, error.code) {
            case (.hidesTruncation, .transport(.connectionLost)), (.hidesRefusal, .transport(.cannotConnect)),
                (.hidesMissingFiles, .unreadableFile), (.hidesErrorsOfClosures, .provider):
                true
            case (.hasBytesOfImages, .invalidSource): if case .image = source { true } else { false }
            default: false
            }
        return isHidden ? Data([1]) : nil
    }
}

extension DownloadRequest {
    fileprivate func isFor(_ path: String) -> Bool {
        if case .http(let http) = source { http.url.path == path } else { false }
    }
}
