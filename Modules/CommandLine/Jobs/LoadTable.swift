import Alcedo

/// The table of a run: one line for each image, with aligned columns.
struct LoadTable {
    private static let heads = ["source", "format", "pixels", "bytes", "ms", "image"]
    private static let rightAligned: Set = [3, 4]

    private var lines: [[String]] = [heads]
    private var loaded = 0
    private var failed = 0
    private var missing = 0
    private var byteCount = 0

    /// Appends a line.
    ///
    /// - Parameters:
    ///   - row: The result of an image.
    ///   - isMissing: Whether writing the image failed.
    mutating func append(_ row: LoadedRow, isMissing: Bool) {
        if isMissing { missing += 1 }
        switch row.result {
        case .success(let facts):
            loaded += 1
            byteCount += facts.byteCount ?? 0
            lines.append([
                facts.layer.rawValue,
                facts.format?.rawValue ?? "-",
                "\(facts.size.width)x\(facts.size.height)",
                facts.byteCount.map { "\($0)" } ?? "-",
                Self.milliseconds(facts.duration),
                row.name,
            ])
        case .failure:
            failed += 1
            lines.append(["failed", "-", "-", "-", "-", row.name])
        }
    }

    var text: String {
        let widths = Self.heads.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let cells = line.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                if column == line.count - 1 { return cell }
                return Self.rightAligned.contains(column) ? padding + cell : cell + padding
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// Returns the totals as one line. Images from memory count no bytes.
    func summary(in duration: Duration) -> String {
        let unwritten = missing > 0 ? ", \(missing) not written" : ""
        let time = RunDuration(duration).text
        return "images: \(loaded) loaded, \(failed) failed\(unwritten), \(byteCount) bytes, \(time)\n"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .milliseconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The result of one image.
struct LoadedRow: Sendable {
    struct Details: Sendable {
        var layer: ImageResponse.Layer
        var format: ImageFormat?
        var size: PixelSize
        /// The number of encoded bytes, or nil for an image from memory.
        var byteCount: Int?
        var duration: Duration
    }

    /// The reason why a load failed. The description quotes no password.
    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var name: String
    var result: Result<Details, Problem>
}
