import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The first step of each load. It completes a request, so that its keys say whose image it is.
///
/// It adds the version of a local file, the changes of all modifiers, and the values of the fields by which the
/// resource varies.
struct RequestResolver: Sendable {
    private let downloader: any Downloading
    private let versions: FileVersions
    let names = VaryNames()
    /// Whether the downloader changes requests. Stored, because each lookup in memory reads it.
    private let modifiesRequests: Bool
    /// The credentials that the downloader adds to each request. They tell users apart, so they count as if the request
    /// had them.
    private let defaultCredentials: [HTTPFields.Field]

    init(downloader: any Downloading, versions: FileVersions) {
        self.downloader = downloader
        self.versions = versions
        modifiesRequests = downloader.modifiesRequests
        let plain = HTTPRequest(url: URL(filePath: "/"))
        defaultCredentials = downloader.addingDefaultFields(to: plain).fields.filter {
            ["authorization", "cookie"].contains($0.name.lowercased())
        }
    }

    /// Whether the request's own key is complete. True for most requests, and fast.
    func isComplete(_ request: ImageRequest) -> Bool {
        names.isEmpty && !modifiesRequests && defaultCredentials.isEmpty && !request.hasModifier
            && !request.needsFileVersion
    }

    /// Returns the request with complete keys, without waiting. Reads the version of a local file. Returns nil if a
    /// modifier must run first.
    func resolveNow(_ request: ImageRequest) -> ImageRequest? {
        needsModifier(request) ? nil : varying(withCredentials(request.withFileVersion))
    }

    /// Returns the request with complete keys.
    ///
    /// - Throws: ``PipelineError`` `download` if a modifier fails, or `CancellationError`.
    func resolve(_ request: ImageRequest) async throws -> ImageRequest {
        if isComplete(request) { return request }
        var resolved = await versions.settled(request)
        if needsModifier(request) {
            resolved.source = try await modifiedSource(of: request)
            resolved.renewal = renewal(running: request)
            resolved.modifyRequest = nil
            // Also records that the modifiers have run.
            resolved = sending(resolved)
        }
        return varying(withCredentials(resolved))
    }

    private func withCredentials(_ request: ImageRequest) -> ImageRequest {
        guard !defaultCredentials.isEmpty, case .http(let http) = request.source else { return request }
        let complete = withCredentials(http)
        guard complete != http else { return request }
        var request = request
        request.source = .http(complete)
        return request
    }

    private func withCredentials(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        for field in defaultCredentials where request.fields[field.name] == nil {
            request.fields.append(field.name, field.value)
        }
        return request
    }

    /// Returns a resolved request with the keys under which its resource is known to be stored now.
    func varying(_ request: ImageRequest) -> ImageRequest {
        guard !names.isEmpty, case .http = request.source, let fields = names[request.key.resource] else {
            return request
        }
        return sending(request).varying(by: fields)
    }

    /// Returns a resolved request with the keys of a resource that has begun to vary since. It is called after the
    /// generation has been read, so that the keys are outdated only if the generation is, too.
    func varyingNow(_ request: ImageRequest) -> ImageRequest { request.variance == nil ? varying(request) : request }

    /// Records what a marker on disk says about the resource of a request. Returns the request with the keys under
    /// which the resource is stored.
    func learning(_ marker: VaryMarker, _ request: ImageRequest) -> ImageRequest {
        names.learn(marker.fields, of: request.key.resource)
        return sending(request).varying(by: marker.fields)
    }

    /// Returns a resolved request with the keys for an image from the app. If no response has told whether the fields
    /// matter that the key leaves out, the image belongs to requests with equal ones.
    func storing(_ request: ImageRequest) -> ImageRequest {
        guard case .http(let http) = request.source else { return request }
        let own = VaryingFields(leftOutOfKeyOf: http)
        return sending(request).varying(by: names.recordImage(of: own, for: request.key.resource))
    }

    /// Returns the request with the request to the server, by which work is shared. The lookup in memory does not need
    /// it.
    func sending(_ request: ImageRequest) -> ImageRequest {
        guard request.sent == nil, case .http(let http) = request.source else { return request }
        var request = request
        request.sent = SentRequest(
            downloader.addingDefaultFields(to: http.withAudience(of: request)), comparesURL: request.resource == nil)
        return request
    }

    /// Returns the source with the changes of the request's `modifyRequest` and of the downloader. Only requests to
    /// servers are changed.
    ///
    /// - Throws: ``PipelineError`` `download` if a modifier fails, or `CancellationError`.
    func modifiedSource(of request: ImageRequest) async throws -> ImageSource {
        guard case .http(var http) = request.source else { return request.source }
        // Modifiers see the request as the caller has made it.
        for field in defaultCredentials where http.fields[field.name] == field.value { http.fields[field.name] = nil }
        if let modify = request.modifyRequest {
            do {
                try await modify(&http)
            } catch let error as CancellationError {
                throw error
            } catch {
                throw PipelineError(.download, "the request modifier failed: \("\(error)".excerpt)", cause: error)
            }
        }
        do {
            return .http(withCredentials(try await downloader.modified(http)))
        } catch let error as CancellationError {
            throw error
        } catch {
            throw PipelineError(download: error)
        }
    }

    /// Returns the request to the server with which a response cache is asked; nil for other sources, and if a modifier
    /// fails.
    func cachedRequest(of request: ImageRequest) async -> HTTPRequest? {
        let isLate = Self.modifiesLate(request)
        let source = isLate ? try? await modifiedSource(of: request) : request.source
        guard case .http(let http)? = source else { return nil }
        return downloader.addingDefaultFields(to: http.withAudience(of: request))
    }

    /// Returns the modifiers for a further attempt of a download; nil if none changes the request.
    func renewal(of request: ImageRequest) -> ImageRequest.Renewal? {
        if let renewal = request.renewal { return renewal }
        guard Self.modifiesLate(request), modifiesRequests || request.hasModifier else { return nil }
        return renewal(running: request)
    }

    private func renewal(running request: ImageRequest) -> ImageRequest.Renewal {
        ImageRequest.Renewal(modifier: request.modifierToken) { [self] in try await modifiedSource(of: request) }
    }

    /// Whether the modifiers run for each download only, because the request names what they select.
    static func modifiesLate(_ request: ImageRequest) -> Bool { request.additionalIdentifier != nil }

    private func needsModifier(_ request: ImageRequest) -> Bool {
        guard modifiesRequests || request.hasModifier, !Self.modifiesLate(request), request.sent == nil else {
            return false
        }
        if case .http = request.source { return true }
        return false
    }
}

extension HTTPRequest {
    /// Returns the request of an image request, before default fields are added, with what tells its users apart.
    func withAudience(of request: ImageRequest) -> HTTPRequest {
        var http = self
        http.audience = Audience(of: self, identifier: request.additionalIdentifier)
        return http
    }
}
