import Alcedo
import AlcedoBMP
import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
import AlcedoURLResponseCache
import FoundationEssentials

/// One process of the run. It loads images for several users at once, and compares every byte with the origin's image
/// for the user. It exits with status 3 after a wrong byte, and with status 4 if a load does not end.
final class Worker: Sendable {
    /// A request, with the path and the fields with which the origin makes the image.
    private struct Load: Sendable {
        var request: ImageRequest
        var path: String
        var fields: HTTPFields
        /// The number of bytes that the request asks for, from the first on; nil for the whole image.
        var byteCount: Int?
        /// The oldest version that the caches may return.
        var minimumVersion: Int
    }

    private static let laneCount = 8
    private static let timeLimit = Duration.seconds(120)
    /// The time for which a result may be shared with a load that began earlier.
    private static let sharingTime = 60.0
    private static let codecs = CodecRegistry.standard.adding(.bmp)
    private static let tokens = (1...4).map { "t\($0)" }

    private let port: Int
    private let number: Int
    private let directory: URL
    private let epoch: Double
    private let pipeline: Locked<ImagePipeline>
    private let counts = Locked<[String: Int]>([:])
    /// The instants at which the current loads began.
    private let starts = Locked<[ContinuousClock.Instant?]>(Array(repeating: nil, count: laneCount))

    init(port: Int, number: Int, directory: URL, epoch: Double) {
        (self.port, self.number, self.directory, self.epoch) = (port, number, directory, epoch)
        pipeline = Locked(Self.pipeline(number, directory))
    }

    private static func pipeline(_ number: Int, _ directory: URL) -> ImagePipeline {
        // Some trim the directory, and the others fill the disk.
        let size = Int.random(in: 0..<4) == 0 ? 600 << 20 : 4 << 30
        func cache(_ name: String, _ size: Int) -> FileDiskCache {
            FileDiskCache(
                directory: directory.appending(path: name), limits: DataCacheLimits(sizeLimit: size),
                sweepInterval: .seconds(15))
        }
        let responses = URLResponseCache(memoryLimit: 8 << 20, disk: cache("responses", 100 << 20))
        var configuration = DownloaderConfiguration()
        configuration.defaultFields["User-Agent"] = "agent \(number)"
        configuration.retry = RetryPolicy(baseDelay: .milliseconds(10), maximumRetryAfter: .seconds(1))
        configuration.totalTimeout = .seconds(30)
        configuration.resume = ResumePolicy(storage: cache("parts", 50 << 20))
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader.standard(
                    configuration: configuration, codecs: codecs, responseCache: responses),
                codecs: codecs, memoryCache: ImageMemoryCache(costLimit: 32 << 20),
                diskCache: cache("images", size)))
    }

    /// Loads images for a time, and then exits.
    func run(for duration: Duration) async throws {
        let end = ContinuousClock.now + duration
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.laneCount {
                group.addTask {
                    while ContinuousClock.now < end { await self.runOne(lane) }
                    self.starts.withLock { $0[lane] = nil }
                }
            }
            group.addTask {
                // Counts are printed while the run takes place, because the process may be killed at any time.
                while ContinuousClock.now < end {
                    try await Task.sleep(for: .seconds(1))
                    self.report()
                }
            }
            try await group.waitForAll()
        }
        await pipeline.withLock { $0 }.shutDown()
        report()
    }

    private func report() {
        let now = ContinuousClock.now
        if let start = starts.withLock({ $0.compactMap(\.self).min() }), now - start > Self.timeLimit {
            Self.say("HANG a load has not ended after \(now - start)")
            exit(4)
        }
        let words = counts.withLock { $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } }
        Self.say(words.joined(separator: " "))
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }

    private func count(_ name: String, _ number: Int = 1) { counts.withLock { $0[name, default: 0] += number } }

    // MARK: Loads

    private func runOne(_ lane: Int) async {
        starts.withLock { $0[lane] = .now }
        let pipeline = pipeline.withLock { $0 }
        guard let load = makeLoad() else { return }
        switch Int.random(in: 0..<20_000) {
        case 0..<20:
            // Begins with empty memory, while other lanes use the pipeline that ends.
            self.pipeline.withLock { $0 = Self.pipeline(number, directory) }
            await pipeline.shutDown()
        // Rare, because the disk must become full.
        case 20: await pipeline.cache.removeAll()
        case 21..<221: await pipeline.cache.remove(load.request, allVariants: .random())
        case 221..<621: await prefetch(load, pipeline)
        default: break
        }
        if let image = pipeline.cachedImage(for: load.request) { check(image, load, "cachedImage") }
        let task = Task {
            do {
                if load.request.processors.isEmpty, chance(6) || load.byteCount != nil {
                    check(try await pipeline.data(for: load.request), load)
                } else {
                    let response = try await pipeline.load(load.request, priority: PriorityHandle(.normal)) {
                        if case .cached(let cached) = $0 { self.check(cached.image, load, "cached first") }
                    }
                    check(response.image, load, "\(response.layer)")
                }
            } catch let error as PipelineError {
                count("failed:\("\(error.code)".prefix { $0 != "(" })")
            } catch {
                count("canceled")
            }
        }
        if chance(12) {
            // A cancellation at a random time must be harmless. Nothing is expected to have happened before it.
            try? await Task.sleep(for: .milliseconds(.random(in: 0...20)))
            task.cancel()
        }
        await task.value
    }

    private func prefetch(_ load: Load, _ pipeline: ImagePipeline) async {
        let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: chance(2) ? .disk : .memory)
        prefetcher.start([load.request] + (0..<4).compactMap { _ in makeLoad()?.request })
        _ = try? await prefetcher.report()
        count("prefetched")
    }

    private func chance(_ count: Int) -> Bool { Int.random(in: 0..<count) == 0 }

    private func makeLoad() -> Load? {
        let number = chance(3) ? Int.random(in: 0..<20_000) : Int.random(in: 0..<40)
        let path = "/\(chance(8) ? "to" : Content.kindNames.randomElement() ?? "")/\(number)"
        let isSigned = chance(4)
        let query = isSigned ? "?sign=\(Int.random(in: 0..<9))" : ""
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)\(query)") else { return nil }
        var http = HTTPRequest(url: url)
        for name in Content.fieldNames where chance(10) { http.fields[name] = Self.tokens.randomElement() }
        let byteCount = chance(20) ? Int.random(in: 101...3000) : nil
        if let byteCount { http.fields["Range"] = "bytes=0-\(byteCount - 1)" }
        var request = ImageRequest(source: .http(http))
        var fields = http.fields
        if fields["User-Agent"] == nil { fields["User-Agent"] = "agent \(self.number)" }
        if isSigned, chance(2) { request.resource = ResourceKey("image \(path)") }
        if chance(4) {
            let (name, token) = (chance(2) ? "X-Auth-Token" : "X-Api-Key", Self.tokens.randomElement() ?? "")
            request.modifyRequest = { $0.fields[name] = token }
            fields[name] = token
            if chance(2) { request.additionalIdentifier = "\(name) \(token)" }
        }
        if chance(3) { request.processors = [.flip(.leftAndRight)] }
        request.dataCachePolicy = chance(4) ? DataCachePolicy.allCases.randomElement() : nil
        request.decoding.allowsPartial = chance(6)
        request.showsCachedFirst = chance(10)
        let now = Date().timeIntervalSince1970 - epoch
        let final = path.hasPrefix("/to/") ? "/plain/\(fields["X-Auth-Token"] ?? "none")/\(number)" : path
        var minimumVersion = 0
        if chance(6) {
            request.cachePolicy = chance(2) ? .reload : .revalidate
            let isDirect = final == path && !request.showsCachedFirst
            minimumVersion = isDirect ? Content.version(of: final, at: now - Self.sharingTime) : 0
        }
        return Load(
            request: request, path: final, fields: fields, byteCount: byteCount, minimumVersion: minimumVersion)
    }

    // MARK: Comparison

    private func check(_ data: Data, _ load: Load) {
        guard let version = isPossible(Content.version(in: data), load, "data of \(data.count) bytes") else { return }
        let file = Content.file(load.path, load.fields, version: version)
        if data == file { return record("data", data.count) }
        // Only the header of the file is decoded, so that a truncation without a sign of it remains unseen.
        let earlyEnd = Content.earlyEnd(load.path, load.fields, version: version, of: file.count)
        guard [load.byteCount, earlyEnd].contains(data.count), data == file.prefix(data.count) else {
            return fail(load, "data, \(data.count) of \(file.count) bytes", version)
        }
        record("parts", data.count)
    }

    private func check(_ image: DecodedImage, _ load: Load, _ layer: String) {
        do {
            // Flipping twice gives the original.
            let original = try load.request.processors.reduce(image) { try $1.process($0) }
            let bytes = Self.colors(original)
            let found = bytes.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            guard let version = isPossible(found, load, layer, image.size, bytes) else { return }
            let file = Content.file(load.path, load.fields, version: version)
            let expected = try Self.codecs.decode(file)
            let wanted = Self.colors(expected)
            guard image.size == expected.size else { return fail(load, layer, version, image.size, bytes) }
            if image.isPartial {
                // The rows at the end are missing, and have one color.
                let equalCount = zip(bytes, wanted).prefix { $0 == $1 }.count
                let rowCount = equalCount / (3 * image.size.width) + 1
                let rest = Set(bytes.dropFirst(rowCount * 3 * image.size.width))
                guard rest.count <= 3 else { return fail(load, "\(layer), partial", version, image.size, bytes) }
                return record("partial", bytes.count)
            }
            guard bytes == wanted else { return fail(load, layer, version, image.size, bytes) }
            record(layer, bytes.count)
        } catch {
            fail(load, "\(layer): \(error)", -1)
        }
    }

    /// Returns the red, green and blue bytes of all pixels. The images are opaque.
    private static func colors(_ image: DecodedImage) -> [UInt8] {
        let bytes = (0..<image.size.height).flatMap { y in image.pixels.row(y).withUnsafeBytes { Array($0) } }
        guard bytes.count == 4 * image.size.width * image.size.height else { return bytes }
        return bytes.indices.filter { $0 % 4 != 3 }.map { bytes[$0] }
    }

    /// Returns the version if the origin has had it, and it is not older than the load allows.
    private func isPossible(
        _ version: Int?, _ load: Load, _ layer: String, _ size: PixelSize? = nil, _ bytes: [UInt8] = []
    ) -> Int? {
        let newest = Content.version(of: load.path, at: Date().timeIntervalSince1970 - epoch + 1)
        if let version, (load.minimumVersion...max(newest, load.minimumVersion)).contains(version) { return version }
        fail(load, layer, version ?? -1, size, bytes)
        return nil
    }

    private func record(_ layer: String, _ byteCount: Int) {
        count(layer)
        count("bytes", byteCount)
    }

    /// Prints what is wrong, with the size and the first bytes of the image, which tell where it comes from, and exits.
    private func fail(
        _ load: Load, _ layer: String, _ version: Int, _ size: PixelSize? = nil, _ bytes: [UInt8] = []
    ) {
        let start = bytes.prefix(24).map { String($0, radix: 16) }.joined(separator: " ")
        Self.say(
            "WRONG from \(layer), version \(version), at least \(load.minimumVersion): \(load.path) \(load.fields) "
                + "\(load.request) identifier \(load.request.additionalIdentifier ?? "none")"
                + (size.map { "; \($0), begins with \(start)" } ?? ""))
        exit(3)
    }
}
