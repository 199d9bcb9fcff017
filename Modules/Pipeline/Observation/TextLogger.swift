public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// Writes a line for each step of a pipeline.
public struct TextLogger: PipelineObserving {
    private let write: @Sendable (_ line: String) -> Void

    /// - Parameter write: Takes a line, without its end; from any thread, several at once.
    public init(_ write: @escaping @Sendable (_ line: String) -> Void) { self.write = write }

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
        case .processed(let identifier): "processed \(printable(identifier))"
        case .finished(let layer): "finished from \(layer.rawValue)"
        case .failed(let error): "failed, \(printable("\(error)"))"
        case .cancelled: "cancelled"
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

    /// A URL or a server's words may hold anything: one line stays one line, reads from left to right, commands no
    /// terminal, and has a length that can be read.
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
