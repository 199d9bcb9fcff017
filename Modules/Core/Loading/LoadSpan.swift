/// A step of a load, from its beginning to its end. The spans of one load form a tree.
///
/// ```swift
/// func spanDidEnd(_ span: LoadSpan) {
///     print(span.name, span.duration ?? .zero, span.outcome ?? .cancelled)
/// }
/// ```
///
/// A ``LoadTracing`` receives each span twice: when it begins and when it ends.
public struct LoadSpan: Sendable, Identifiable {
    /// The name of a step. Downloaders, processors and other parts of an app can add names of their own.
    public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// One call that waits for an image, from the first interceptor to its result.
        public static let load: Self = "load"
        /// One call that waits for encoded bytes, such as `ImagePipeline.data(for:)`, or that prefetches them.
        public static let data: Self = "data"
        /// The change of a request by its modifiers and those of the downloader, and the look at the version of a local
        /// file. Requests that need neither have no such step.
        public static let resolve: Self = "resolve"
        /// The lookup of the finished image in memory.
        public static let memoryLookup: Self = "memoryLookup"
        /// The lookup of the processed image or of the original bytes in the disk cache.
        public static let diskLookup: Self = "diskLookup"
        /// A wait for a slot, a thread or memory, inside the step that needs it or before it. The pause before a retry
        /// counts.
        public static let queueWait: Self = "queueWait"
        /// The fetch of the bytes or the image of a source, whether from a server, a file or a closure.
        public static let download: Self = "download"
        /// The lookup in a response cache. A stored response that needs the server's confirmation is a miss.
        public static let responseCache: Self = "responseCache"
        /// One attempt to receive the bytes, from a server or a response cache, or the read of a local source.
        public static let transfer: Self = "transfer"
        /// The decode of an image, from opening its bytes.
        public static let decode: Self = "decode"
        /// The conversion of the colors of a whole image. Rows that are converted while they are decoded have no such
        /// step.
        public static let colorConversion: Self = "colorConversion"
        /// One processor, whose identifier is the ``LoadSpan/detail``. A processor that takes the rows of the decoder
        /// runs inside of `decode`.
        public static let process: Self = "process"
        /// The decode of one preview.
        public static let preview: Self = "preview"
        /// The encode of a processed image for the disk cache, inside of `diskStore`.
        public static let encode: Self = "encode"
        /// The write of one entry to the disk cache, in the background, from its place in the queue. It is canceled if
        /// the entry is outdated or cannot be made.
        public static let diskStore: Self = "diskStore"

        /// The text of the name.
        public let rawValue: String

        /// Creates a name from its text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a name from its text.
        public init(stringLiteral text: String) { self.init(rawValue: text) }

        /// The text of the name.
        public var description: String { rawValue }
    }

    /// The outcome of a step.
    public enum Outcome: Sendable {
        /// The step did its work; for a lookup, a hit.
        case success
        /// A lookup did not supply the entry.
        case miss(CacheMissReason)
        /// The step failed. The load may still succeed, for example by a retry.
        case failure(any Error)
        /// The step was canceled.
        case cancelled

        /// Creates the outcome of a step that threw an error.
        package init(throwing error: any Error) { self = error is CancellationError ? .cancelled : .failure(error) }
    }

    /// The number of the span, which no other span of the process has.
    public let id: UInt64
    /// The number of the span in which this one began; nil for the span of a call.
    ///
    /// The parent may end first: a caller that cancels does not end work that others wait for, and writes to disk run
    /// in the background.
    public let parent: UInt64?
    /// The number of the outermost span, the same for all spans of its tree.
    public let root: UInt64
    /// The step.
    public let name: Name
    /// What the step works with, such as the identifier of a processor; nil when the name says all. Default: nil.
    public let detail: String?
    /// The key of the image or of its original bytes. In the span of a call, that of the request before its modifiers
    /// have changed it.
    public let key: ImageKey
    /// The uptime of the pipeline's clock at the beginning.
    public let start: Duration
    /// The uptime of the pipeline's clock at the end; nil before.
    public package(set) var end: Duration?
    /// The outcome; nil before the end.
    public package(set) var outcome: Outcome?

    /// The time from the beginning to the end; nil before the end.
    public var duration: Duration? { end.map { $0 - start } }

    /// Creates a span, for example to test a tracer. By default, it is the span of a call that has not ended.
    ///
    /// The parameters are the properties of the same names. By default, `root` is the span's own number.
    public init(
        id: UInt64, parent: UInt64? = nil, root: UInt64? = nil, name: Name, detail: String? = nil, key: ImageKey,
        start: Duration, end: Duration? = nil, outcome: Outcome? = nil
    ) {
        self.id = id
        self.parent = parent
        self.root = root ?? id
        self.name = name
        self.detail = detail
        self.key = key
        self.start = start
        self.end = end
        self.outcome = outcome
    }
}

extension LoadSpan {
    /// Runs `body` as a step of the load in which it is called.
    ///
    /// ```swift
    /// let token = try await LoadSpan.run("sign") { try await session.authorization() }
    /// ```
    ///
    /// A downloader, a codec, a processor or a closure of an app calls this to show its own steps. Steps inside of
    /// `body`, and in tasks that it starts with `Task.init`, become children. Outside of a load, and in a pipeline
    /// without tracers, this only calls `body`.
    ///
    /// - Parameters:
    ///   - name: The name of the step.
    ///   - detail: What the step works with. Default: nil.
    ///   - isolation: The actor of the caller.
    ///   - body: The work.
    /// - Returns: The value of `body`.
    /// - Throws: The error of `body`, which is also the outcome of the span.
    public static func run<Value>(
        _ name: Name, detail: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        guard let current = ActiveSpan.current else { return try await body() }
        return try await current.begin(name, detail: detail).run(body)
    }

    /// Runs `body`, which does not suspend, as a step of the load in which it is called.
    ///
    /// - Parameters:
    ///   - name: The name of the step.
    ///   - detail: What the step works with. Default: nil.
    ///   - body: The work.
    /// - Returns: The value of `body`.
    /// - Throws: The error of `body`, which is also the outcome of the span.
    public static func run<Value>(
        _ name: Name, detail: String? = nil, _ body: () throws -> Value
    ) rethrows -> Value {
        guard let current = ActiveSpan.current else { return try body() }
        return try current.begin(name, detail: detail).run(body)
    }
}
