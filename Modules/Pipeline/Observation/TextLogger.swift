public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// A log of a pipeline, with one line for each step.
///
/// ```swift
/// let logger = TextLogger { line in print(line) }
/// configuration.observers.append(logger)
/// ```
public struct TextLogger: PipelineObserving {
    private let write: @Sendable (_ line: String) -> Void

    /// Creates a logger.
    ///
    /// - Parameter write: A closure that receives each line without a line break. It is called from any thread, several
    ///   times concurrently.
    public init(_ write: @escaping @Sendable (_ line: String) -> Void) { self.write = write }

    /// Writes a line for a step.
    public func pipelineDidReport(_ event: PipelineEvent) {
        let time = event.duration > .zero ? " in \(Self.words(event.duration))" : ""
        write("\(Self.words(event.stage))\(time): \(Self.printable(event.key.description))")
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
