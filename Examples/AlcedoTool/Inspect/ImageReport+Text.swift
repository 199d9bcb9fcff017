import ExampleSupport

extension ImageReport {
    /// Some lines for a person, none where nothing is known; errors are told elsewhere.
    var text: String {
        var lines = [Console.printable(input)]
        if let format, let width, let height {
            let alpha = hasAlpha == true ? ", with alpha" : ""
            lines.append("  \(format), \(width) x \(height), \(colorModel ?? "?") of \(bitDepth ?? 0) bits\(alpha)")
        }
        if let orientation, orientation != 1 { lines.append("  orientation \(orientation)") }
        if let frameCount, let delaysMs, frameCount > 1 {
            let total = delaysMs.reduce(0, +) / 1000
            let loops = loopCount.map { $0 == 0 ? "for ever" : "loop count \($0)" } ?? "no loop count"
            lines.append("  \(frameCount) frames, \(total) s, \(loops)")
        }
        let metadata = [("profile", profileBytes), ("EXIF", exifBytes), ("XMP", xmpBytes)]
        for (name, count) in metadata { if let count { lines.append("  \(name): \(count) bytes") } }
        for (index, frame) in (frames ?? []).enumerated() { lines.append("  frame \(index): \(frame.sha256)") }
        return lines.count == 1 ? "" : lines.map { $0 + "\n" }.joined()
    }
}
