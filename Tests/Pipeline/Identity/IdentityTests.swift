import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import AlcedoURLResponseCache
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

/// Random loads whose requests differ from others in one part or two. Each result must be what the server has sent for
/// the same final request, or what a response allows to be used for it (RFC 9111, section 4.1).
///
/// The table ``LoadPlan/parts`` lists the parts and their values. Each part is varied in each ``IdentityLayer``. A seed
/// determines everything, also the order in which tasks run, so that a seed that fails always fails.
@Suite(.timeLimit(.minutes(20)))
struct IdentityTests {
    private static let seeds = 0..<TestLength.rounds(40, full: 2_000)

    @Test func `no request receives what was made for another one, whatever part differs, in any layer`() async throws {
        let meetings = await withTaskGroup(of: [Meeting: Int].self) { group in
            for seed in Self.seeds { group.addTask { await Self.meetings(seed: seed) } }
            return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        for part in LoadPlan.parts {
            for layer in IdentityLayer.allCases {
                #expect(
                    meetings[Meeting(part: part.name, layer: layer), default: 0] > 0,
                    "no request that differed in \(part.name) was served by \(layer)")
            }
        }
    }

    @Test func `a seed determines what meets where`() async {
        let first = await Self.meetings(seed: 5)
        let second = await Self.meetings(seed: 5)
        #expect(first == second)
    }

    /// Runs the loads of a seed. Returns how often each layer served a request that differed in each part.
    private static func meetings(seed: Int) async -> [Meeting: Int] {
        let executor = ManualExecutor()
        let run = Task(executorPreference: executor) {
            var world = World(seed: seed, executor: executor)
            do {
                for _ in 0..<24 { try await world.runBatch() }
            } catch {
                Issue.record("seed \(seed), batch \(world.origin.batch): \(error)")
            }
            return world.meetings
        }
        // On another thread, because the jobs of a whole run would block one of Swift's few threads.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                executor.drain()
                continuation.resume()
            }
        }
        return await executor.drain { await run.value }
    }
}

/// The ways by which a result reaches a request that did not cause it.
private enum IdentityLayer: CaseIterable {
    case memory, disk, responseCache, flight, resumption, nextProcess, otherPipeline
}

/// A layer that served a request which differed from others in a part.
private struct Meeting: Hashable {
    let part: String
    let layer: IdentityLayer
}

/// The parts of a load. The pipeline, the codecs and all policies are in it, because they must not mix results either.
private struct LoadPlan: Sendable, CustomStringConvertible {
    enum Credentials: Equatable { case none, field(String), cookie(String), url(String) }

    /// What a modifier changes. Later attempts of a download use the later values.
    enum Modifier: Equatable { case none, field(String, [String]), query([String]) }

    enum Codecs: UInt8 { case ofPipeline, equal, other, missing }

    enum Call { case load, loadCachedFirst, data }

    var path = "/a"
    var fields = HTTPFields()
    var method = HTTPMethod.get
    /// The body if the method has one.
    var body: String?
    var credentials = Credentials.none
    var range: String?
    /// Whether the query of the URL does not count.
    var namesResource = false
    var identifier: String?
    var modifier = Modifier.none
    var steps: [UInt8] = []
    var target: UInt8 = 0
    var acceptsLarger = false
    var codecs = Codecs.ofPipeline
    var policy = CachePolicy.all
    var dataPolicy = DataCachePolicy.original
    var call = Call.load
    var pipelineIndex = 0

    static let parts: [Part] = [
        Part("URL", \.path, ["/a", "/b", "/a?q=1", "/a?q=2", "/moved", "/away"]),
        Part(
            "fields", \.fields,
            [
                [:], ["X-Token": "1"], ["X-Token": "2"], ["x-token": "1", "DPR": "1"], ["X-User": "1"], ["DPR": "2"],
                ["User-Agent": "own"], ["Accept": "image/own"], ["Accept-Language": "de"], ["Accept-Language": "en"],
                ["Accept-Encoding": "identity"],
            ]),
        Part("method", \.method, [.get, .post]),
        Part("body", \.body, [nil, "1", "2"]),
        Part("credentials", \.credentials, [.none, .field("1"), .field("2"), .cookie("1"), .url("1"), .url("2")]),
        Part("range", \.range, [nil, "bytes=0-30", "bytes=0-40"]),
        Part("resource", \.namesResource, [false, true]),
        Part("identifier", \.identifier, [nil, "x", "y"]),
        Part(
            "modifier", weight: 6, \.modifier,
            [
                .none, .field("X-Token", ["1"]), .field("X-Token", ["1", "2"]), .field("X-Token", ["1", "3"]),
                .field("Authorization", ["1"]), .field("Authorization", ["1", "2"]), .field("Range", ["bytes=0-30"]),
                .query(["q=1"]), .query(["q=1", "q=2"]),
            ]),
        Part("processors", \.steps, [[], [1], [2], [1, 2], [2, 1]]),
        Part("target", \.target, [0, 50, 60]),
        Part("larger images", \.acceptsLarger, [false, true]),
        Part("codecs", \.codecs, [.ofPipeline, .equal, .other, .missing]),
        Part(
            "cache policy", \.policy,
            [
                .all, .all, .reload, .revalidate, .cacheOnly, CachePolicy(.returnCacheDataElseLoad), .none,
                CachePolicy(memory: .none), CachePolicy(disk: .none), CachePolicy(memory: .none, disk: .none),
            ]),
        Part("data policy", \.dataPolicy, DataCachePolicy.allCases),
        Part("call", \.call, [.load, .loadCachedFirst, .data]),
        Part("pipeline", \.pipelineIndex, [0, 1]),
    ]

    /// One part of a load, with its values.
    struct Part: Sendable {
        let name: String
        /// How often the part is varied.
        let weight: Int
        let vary: @Sendable (inout LoadPlan, inout SeededGenerator) -> Void
        let differs: @Sendable (LoadPlan, LoadPlan) -> Bool
        let text: @Sendable (LoadPlan) -> String

        init<Value: Equatable & Sendable>(
            _ name: String, weight: Int = 1, _ path: any WritableKeyPath<LoadPlan, Value> & Sendable, _ values: [Value]
        ) {
            (self.name, self.weight) = (name, weight)
            vary = { plan, random in plan[keyPath: path] = values[Int.random(in: 0..<values.count, using: &random)] }
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            text = { "\(name): \($0[keyPath: path])" }
        }
    }

    /// Returns a plan in which about every fifth part has another value than usual.
    static func makeBase(_ random: inout SeededGenerator) -> LoadPlan {
        var plan = LoadPlan()
        for part in parts where Int.random(in: 0..<5, using: &random) == 0 { part.vary(&plan, &random) }
        return plan
    }

    /// The parts that do not have their usual values.
    var description: String {
        let usual = LoadPlan()
        return Self.parts.filter { $0.differs(self, usual) }.map { $0.text(self) }.joined(separator: "; ")
    }

    // MARK: Requests

    /// Returns the HTTP request before the modifiers.
    private func httpRequest() throws -> HTTPRequest {
        var text = "http://h\(path)"
        if case .url(let user) = credentials { text = "http://\(user)@h\(path)" }
        var http = HTTPRequest(method: method, url: try #require(URL(string: text)), fields: fields)
        if method == .post { http.body = body.map { Data($0.utf8) } }
        switch credentials {
        case .field(let value): http.fields["Authorization"] = value
        case .cookie(let value): http.fields["Cookie"] = value
        case .url, .none: break
        }
        http.fields["Range"] = range
        return http
    }

    /// Returns the image request, in the time of a user, who is a part of what the modifiers select.
    func imageRequest(user: String?) throws -> ImageRequest {
        var request = ImageRequest(source: .http(try httpRequest()))
        if namesResource { request.resource = ResourceKey("image \(path.prefix { $0 != "?" })") }
        // A part has the identifier of the whole.
        let isPart = if case .field("Range", _) = modifier { range == nil } else { false }
        let selection = isPart ? Modifier.none : modifier
        request.additionalIdentifier = identifier.map { "\($0) \(user ?? "nobody") \(selection) \(codecs)" }
        if modifier != .none {
            let count = Watched(0)
            request.modifyRequest = { [modifier] http in
                let attempt = count.update { count in
                    defer { count += 1 }
                    return count
                }
                modifier.apply(to: &http, attempt: attempt)
            }
        }
        request.processors = steps.map { IdentityPicture.Step(number: $0) }
        if target > 0 { request.decoding.target = TargetSize(width: Int(target), height: Int(target)) }
        request.acceptsLargerCachedImage = acceptsLarger
        switch codecs {
        case .ofPipeline: break
        case .equal: request.codecs = IdentityPicture.Codec(number: 0).registry
        case .other: request.codecs = IdentityPicture.Codec(number: 1).registry
        case .missing: request.codecs = CodecRegistry([])
        }
        request.cachePolicy = policy
        request.dataCachePolicy = dataPolicy
        request.showsCachedFirst = call == .loadCachedFirst
        return request
    }

    /// Returns the requests of which the server may see one, without default fields: one for each attempt.
    func sentRequests(user: String?) throws -> [HTTPRequest] {
        try (0..<modifier.attemptCount).map { attempt in
            var http = try httpRequest()
            modifier.apply(to: &http, attempt: attempt)
            if let user { http.fields["X-User"] = user }
            return http
        }
    }

    // MARK: Results

    /// Whether only a response to this load is a right result.
    var mustBeNew: Bool {
        let reloads: [HTTPCachePolicy?] = [.reloadIgnoringLocalCacheData, .reloadRevalidatingCacheData]
        return !policy.memory.reads && !policy.disk.reads
            && (!policy.response.reads || reloads.contains(policy.protocolPolicy))
    }

    /// The numbers of the codecs by which the image may have been decoded. An image in a cache is for all codecs,
    /// unless an identifier names the codec.
    private var codecNumbers: [UInt8] {
        if identifier == nil, policy.memory.reads || policy.disk.reads { return [0, 1] }
        return switch codecs {
        case .ofPipeline, .equal: [0]
        case .other: [1]
        case .missing: []
        }
    }

    private var targets: [UInt8] { acceptsLarger && target > 0 ? [target, 0, 60] : [target] }

    /// Returns whether a picture was made as this plan requests it, of whatever content.
    ///
    /// - Parameters:
    ///   - picture: The picture, of a decoded image or of encoded data.
    ///   - isData: Whether it is of encoded data.
    ///   - range: The range of the request.
    func accepts(_ picture: IdentityPicture, isData: Bool, range: String?) -> Bool {
        let end = range.flatMap { UInt8($0.dropFirst("bytes=0-".count)) }
        // A part never stands for the whole. With an identifier, the whole may stand for a part that a modifier
        // requests.
        let mayBeWhole = end == nil || identifier != nil && self.range == nil
        guard picture.part == end.map({ $0 + 1 }) || mayBeWhole && picture.part == 0 else { return false }
        if isData { return picture.codec == 0 && picture.target == 0 && picture.steps.isEmpty }
        return codecNumbers.contains(picture.codec) && targets.contains(picture.target) && picture.steps == steps
    }
}

extension LoadPlan.Modifier {
    /// The number of attempts that send different requests.
    fileprivate var attemptCount: Int {
        switch self {
        case .none: 1
        case .field(_, let values), .query(let values): values.count
        }
    }

    fileprivate func apply(to http: inout HTTPRequest, attempt: Int) {
        let attempt = min(attempt, attemptCount - 1)
        switch self {
        case .none: break
        case .field(let name, let values): http.fields[name] = values[attempt]
        case .query(let values):
            let text = http.url.absoluteString
            http.url = URL(string: "\(text)\(text.contains("?") ? "&" : "?")\(values[attempt])") ?? http.url
        }
    }
}

/// A load, and the final requests whose results it may receive.
private struct Load: Sendable {
    let plan: LoadPlan
    let request: ImageRequest
    let forms: [IdentityOrigin.Form]
    let range: String?
    let pipeline: ImagePipeline
    let origin: IdentityOrigin

    /// A result that the load must not receive.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    struct Result: Sendable {
        let picture: IdentityPicture
        let layer: ImageResponse.Layer
        let head: HTTPResponseHead?

        /// The number of the server's response, if the result is one.
        var responseID: String? { layer == .network && !isFromResponseCache ? head?.fields["X-Response"] : nil }
        var isFromResponseCache: Bool { head?.fields["Cache-Status"]?.contains("hit") == true }
    }

    /// Runs the load and checks every image that it shows. Returns nil if it failed for a reason that it may have.
    func run() async throws -> Result? {
        if let image = pipeline.cachedImage(for: request) { try check(IdentityPicture(image), "cachedImage") }
        do {
            if plan.call == .data {
                let response = try await pipeline.dataResponse(for: request)
                guard let picture = IdentityPicture(file: response.data) else { throw Mismatch("a mixture of files") }
                try check(picture, isData: true, "data from \(response.layer)")
                return Result(picture: picture, layer: response.layer, head: response.httpResponse)
            }
            let shown = Watched<[IdentityPicture]>([])
            let response = try await pipeline.load(request, priority: PriorityHandle(.normal)) { update in
                if case .cached(let cached) = update { shown.update { $0.append(IdentityPicture(cached.image)) } }
            }
            for picture in shown.value { try check(picture, "cached first") }
            let picture = IdentityPicture(response.image)
            try check(picture, "\(response.layer)")
            return Result(picture: picture, layer: response.layer, head: response.httpResponse)
        } catch let error as PipelineError {
            let mayFail =
                switch error.code {
                case .download: origin.traits.isFlaky
                case .notInCache: !plan.policy.allowsNetwork
                case .decoding: plan.codecs == .missing
                case .providerCancelled, .processing, .notStored, .shutDown: false
                }
            guard mayFail else { throw Mismatch("[\(plan)] failed: \(error)") }
            return nil
        }
    }

    private func check(_ picture: IdentityPicture, isData: Bool = false, _ layer: String) throws {
        let first = plan.mustBeNew ? origin.batch : 0
        let isExplained = forms.contains {
            origin.explains(picture.content, $0, ignoringQuery: plan.namesResource, since: first)
        }
        guard isExplained, plan.accepts(picture, isData: isData, range: range) else {
            let reason = isExplained ? "was made otherwise" : "has the content of another request"
            throw Mismatch("\(picture) from \(layer) \(reason), for [\(plan)], sent as \(forms)")
        }
    }
}

/// A server, caches, and two pipelines on them, which send different default fields.
private struct World {
    let origin: IdentityOrigin
    private(set) var meetings: [Meeting: Int] = [:]

    private static let pipelineCount = 2

    private let executor: ManualExecutor
    /// Whether the downloaders have a modifier, which adds the current user.
    private let hasUsers: Bool
    /// The default fields of each pipeline.
    private let defaultFields: [HTTPFields]
    private var random: SeededGenerator
    private let clock = ManualClock()
    private let user = Watched<String?>(nil)
    private let disk = FakeDataCache()
    private let responses = StoredResponses()
    private let pieces = FakeDataCache()
    private var memory = DictionaryMemoryCache()
    private var pipelines: [ImagePipeline] = []
    /// The first batch of this process.
    private var firstBatch = 0
    /// The plans that are varied. They stay for some batches, so that requests meet the results of earlier ones.
    private var bases: [LoadPlan] = []

    init(seed: Int, executor: ManualExecutor) {
        self.executor = executor
        random = SeededGenerator(seed: UInt64(seed))
        hasUsers = seed % 8 < 4
        defaultFields = (0..<Self.pipelineCount).map { index in
            var fields: HTTPFields = ["User-Agent": "agent \(index)", "Accept": "image/\(index)"]
            if seed % 5 == 0 { fields["Authorization"] = "agent \(index)" }
            return fields
        }
        origin = IdentityOrigin(
            IdentityOrigin.Traits(
                hasResponseCache: seed % 2 == 1, namesKeyFields: seed % 4 == 1, isFlaky: seed % 3 != 0),
            seed: UInt64(seed))
        bases = (0..<3).map { _ in LoadPlan.makeBase(&random) }
        restart()
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// Begins the next process: what is on disk stays.
    private mutating func restart() {
        memory = DictionaryMemoryCache()
        firstBatch = origin.batch
        let cache = URLResponseCache(store: responses, clock: clock)
        let transport: any HTTPTransport =
            origin.traits.hasResponseCache
            ? CachingTransport(wrapping: origin, cache: cache, taskExecutor: executor) : origin
        pipelines = (0..<Self.pipelineCount).map { index in
            let downloader = Downloader(
                transport: transport, configuration: configuration(index),
                responseCache: origin.traits.hasResponseCache ? cache : nil, clock: clock)
            return ImagePipeline(
                ImagePipeline.Configuration(
                    downloader: downloader, codecs: IdentityPicture.Codec(number: 0).registry, memoryCache: memory,
                    diskCache: disk, clock: clock, taskExecutor: executor))
        }
    }

    private func configuration(_ index: Int) -> DownloaderConfiguration {
        var configuration = DownloaderConfiguration()
        configuration.taskExecutor = executor
        configuration.defaultFields = defaultFields[index]
        configuration.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        configuration.retryBudget = nil
        configuration.resume = ResumePolicy(storage: pieces)
        configuration.resume?.minimumByteCount = 1
        configuration.alternatives = { request in [Self.alternative(to: request)] }
        guard hasUsers else { return configuration }
        configuration.modifyRequest = { [user] request in
            var request = request
            if let name = user.value { request.fields["X-User"] = name }
            return request
        }
        return configuration
    }

    /// Returns the request to another server that a downloader sends when a request has failed. For one page, the other
    /// server has credentials for each user.
    private static func alternative(to request: HTTPRequest) -> HTTPRequest {
        var next = request
        let query = request.url.query().map { "?\($0)" } ?? ""
        next.url = URL(string: "http://mirror\(request.url.path)\(query)") ?? request.url
        if request.url.path == "/a" { next.fields["Authorization"] = "mirror \(request.fields["X-User"] ?? "nobody")" }
        return next
    }

    mutating func runBatch() async throws {
        origin.beginBatch()
        if chance(4) {
            for pipeline in pipelines { await pipeline.flush() }
            // Some stored responses become stale.
            clock.advance(by: .seconds(100))
        }
        if chance(6) {
            for pipeline in pipelines { await pipeline.shutDown() }
            restart()
        }
        if chance(6) { memory.removeAll() }
        let name: String? = hasUsers ? pick([nil, "1", "2"]) : nil
        user.update { $0 = name }
        if chance(3) {
            let replaced = pick(Array(bases.indices))
            bases[replaced] = LoadPlan.makeBase(&random)
        }
        let plans = makePlans()
        // The second half of the loads finds the results of the first.
        for _ in 0..<2 {
            try await run((0..<6).map { _ in try makeLoad(pick(plans), user: name) }, beside: plans + bases)
        }
    }

    /// Runs loads at the same time, and counts the layers that served those that differ from other plans.
    private mutating func run(_ loads: [Load], beside plans: [LoadPlan]) async throws {
        let tasks = loads.map { load in Task(executorPreference: executor) { try await load.run() } }
        var results: [(load: Load, result: Load.Result)] = []
        for (load, task) in zip(loads, tasks) {
            if let result = try await task.value { results.append((load, result)) }
        }
        let responseIDs = results.compactMap { $0.result.responseID }
        for (load, result) in results {
            for layer in layers(of: result, load, responseIDs) {
                for part in LoadPlan.parts where plans.contains(where: { part.differs($0, load.plan) }) {
                    meetings[Meeting(part: part.name, layer: layer), default: 0] += 1
                }
            }
        }
    }

    /// Returns plans that differ in one part, and some of them in others, too.
    private mutating func makePlans() -> [LoadPlan] {
        let (base, part) = (pick(bases), pick(LoadPlan.parts.flatMap { repeatElement($0, count: $0.weight) }))
        return (0..<4).map { _ in
            var plan = base
            part.vary(&plan, &random)
            if chance(3) { pick(LoadPlan.parts).vary(&plan, &random) }
            if chance(3) { plan.pipelineIndex = Int.random(in: 0..<Self.pipelineCount, using: &random) }
            return plan
        }
    }

    private func makeLoad(_ plan: LoadPlan, user: String?) throws -> Load {
        let sent = try plan.sentRequests(user: user)
        let all = sent + (origin.traits.isFlaky ? sent.map(Self.alternative) : [])
        let forms = all.map { http in
            var http = http
            for field in defaultFields[plan.pipelineIndex] where http.fields[field.name] == nil {
                http.fields[field.name] = field.value
            }
            return IdentityOrigin.Form(http)
        }
        return Load(
            plan: plan, request: try plan.imageRequest(user: user), forms: forms,
            range: sent[0].fields["Range"], pipeline: pipelines[plan.pipelineIndex], origin: origin)
    }

    /// Returns the layers that served a load, given the numbers of all responses of the batch.
    private func layers(of result: Load.Result, _ load: Load, _ responseIDs: [String]) -> [IdentityLayer] {
        var layers: [IdentityLayer] = []
        if let id = result.responseID {
            if responseIDs.filter({ $0 == id }).count > 1 { layers.append(.flight) }
            if origin.isRest(id) { layers.append(.resumption) }
            return layers
        }
        switch result.layer {
        case .memory: layers.append(.memory)
        case .disk: layers.append(.disk)
        case .network, .local: layers.append(.responseCache)
        }
        let use = origin.use(of: result.picture.content)
        if use.lastBatch < firstBatch { layers.append(.nextProcess) }
        if !use.agents.contains("agent \(load.plan.pipelineIndex)") { layers.append(.otherPipeline) }
        return layers
    }
}

/// A store of responses that keeps only bytes, as a disk does.
private final class StoredResponses: ResponseStoring {
    private let entries = Watched<[ImageKey: CachedData]>([:])

    func entry(for key: ImageKey) async -> ResponseEntry? {
        entries.value[key].flatMap { ResponseEntry(metadata: $0.metadata, body: $0.data) }
    }

    func store(_ entry: ResponseEntry, for key: ImageKey) async {
        var isAllowed = true
        if case .response(let response) = entry { isAllowed = response.storagePolicy == .allowed }
        let (metadata, body) = entry.encoded
        entries.update { [isAllowed] in $0[key] = isAllowed ? CachedData(body, metadata: metadata) : nil }
    }

    func remove(_ key: ImageKey) async { entries.update { $0[key] = nil } }

    func removeAll(of resource: ResourceKey) async {
        entries.update { $0 = $0.filter { $0.key.resource != resource } }
    }

    func removeAll(storedSince date: Date) async { await removeAll() }

    func removeAll() async { entries.update { $0 = [:] } }
}
