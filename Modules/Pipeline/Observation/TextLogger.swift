public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// A log of a pipeline, with one line for each step of a minimum level.
///
/// ```swift
/// let logger = TextLogger(minimumLevel: .info) { line in print(line) }
/// configuration.observers.append(logger)
/// ```
///
/// The level `debug` has the steps inside of loads, among them each memory miss with its reason.
public struct TextLogger: PipelineObserving {
    private let minimumLevel: PipelineEvent.Level
    private let write: @Sendable (_ level: PipelineEvent.Level, _ line: String) -> Void

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - minimumLevel: The level below which steps are not logged. Default: `debug`, which logs all.
    ///   - write: A closure that receives each line without a line break. It is called from any thread, several times
    ///     concurrently.
    public init(
        minimumLevel: PipelineEvent.Level = .debug, _ write: @escaping @Sendable (_ line: String) -> Void
    ) {
        self.init(minimumLevel: minimumLevel) { _, line in write(line) }
    }

    /// Creates a logger that passes on the level of each line, for a log with levels of its own.
    ///
    /// - Parameters:
    ///   - minimumLevel: The level below which steps are not logged. Default: `debug`, which logs all.
    ///   - write: A closure that receives the level and each line without a line break. It is called from any thread,
    ///     several times concurrently.
    public init(
        minimumLevel: PipelineEvent.Level = .debug,
        _ write: @escaping @Sendable (_ level: PipelineEvent.Level, _ line: String) -> Void
    ) {
        self.minimumLevel = minimumLevel
        self.write = write
    }

    /// Writes a line for a step.
    public func pipelineDidReport(_ event: PipelineEvent) {
        let level = event.level
        guard level >= minimumLevel else { return }
        let time = event.duration > .zero ? " in \(Self.words(event.duration))" : ""
        write(level, "\(Self.words(event.stage))\(time): \(Self.printable(event.key.description))")
    }

    private static func words(_ stage: PipelineEvent.Stage) -> String {
        switch stage {
        case .memoryHit: "memory hit"
        case .memoryMiss(let reason): "memory miss (\(words(reason)))"
        case .diskHit(let bytes): "disk hit, \(bytes) bytes"
        case .diskMiss(let reason): "disk miss (\(words(reason)))"
        case .diskWriteFailed(let error): "disk write failed, \(printable("\(error)"))"
        case .downloaded(let bytes, let source?): "downloaded \(bytes) bytes (response cache: \(source.rawValue))"
        case .downloaded(let bytes, nil): "downloaded \(bytes) bytes"
        case .decoded(let size): "decoded \(size)"
        case .colorConverted(let space): "colors converted to \(space.rawValue)"
        case .colorProfileIgnored(let error): "color profile ignored, \(printable("\(error)"))"
        case .processed(let identifier): "processed \(printable(identifier))"
        case .finished(let layer): "finished from \(layer.rawValue)"
        case .failed(let error): "failed, \(printable("\(error)"))"
        case .cancelled: "canceled"
        case .alternative(let key): "continues with the alternative \(printable(key.description))"
        }
    }

    private static func words(_ duration: Duration) -> String {
        let microseconds = (duration * 1_000).milliseconds
        return microseconds < 10_000 ? "\(microseconds) µs" : "\(duration.milliseconds) ms"
    }

    private static func words(_ reason: CacheMissReason) -> String {
        switch reason {
        case .notStored: "not stored"
        case .notAllowed: "not allowed"
        case .noCache: "no cache"
        case .damaged: "damaged"
        case .expired: "expired"
        case .evicted: "evicted"
        case .tooSmall: "stored at smaller sizes"
        case .otherSize: "stored at another size"
        case .otherProcessors: "stored with other processors"
        case .otherOptions: "stored with other options"
        case .otherFields: "stored for other request fields"
        case .otherVersion: "stored for another version of the source"
        }
    }

    /// Returns the text with control and formatting characters replaced by question marks, shortened to 500 Unicode
    /// scalars. URLs and server messages are untrusted: they must not break lines, change the direction of text or
    /// control a terminal.
    private static func printable(_ text: String) -> String {
        var line = String(String.UnicodeScalarView(text.unicodeScalars.prefix(500).map { isShown($0) ? $0 : "?" }))
        if text.unicodeScalars.count > 500 { line += "…" }
        return line
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
