import AlcedoCore

/// Pixels as a Sixel sequence.
///
/// Source: "VT330/VT340 Programmer Reference Manual", volume 2, chapter 14.
enum SixelText {
    /// Rows of a band, one for each bit of a character.
    private static let bandHeight = 6
    /// Runs of fewer characters are as short written out.
    private static let shortestRun = 4

    /// Draws a picture at the cursor. Where that is afterwards, terminals do not agree.
    static func show(_ picture: SixelPicture) -> String {
        // Pixels of no colour stay as they are; one by one; the size.
        var bytes = Array("\u{1B}P0;1;0q\"1;1;\(picture.size.width);\(picture.size.height)".utf8)
        for (index, color) in picture.palette.enumerated() {
            let percents = [color.x, color.y, color.z].map { (Int($0) * 100 + 127) / 255 }
            bytes += "#\(index);2;\(percents[0]);\(percents[1]);\(percents[2])".utf8
        }
        for top in stride(from: 0, to: picture.size.height, by: bandHeight) {
            if top > 0 { bytes.append(UInt8(ascii: "-")) }
            appendBand(of: picture, from: top, to: &bytes)
        }
        bytes += "\u{1B}\\".utf8
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Draws up to six rows, one colour after another over the same place.
    private static func appendBand(of picture: SixelPicture, from top: Int, to bytes: inout [UInt8]) {
        let width = picture.size.width
        var masks = [[UInt8]?](repeating: nil, count: picture.palette.count)
        for y in top..<min(top + bandHeight, picture.size.height) {
            for x in 0..<width {
                let index = Int(picture.indices[y * width + x])
                masks[index, default: width][x] |= 1 << UInt8(y - top)
            }
        }
        var isFirst = true
        for case (let index, var mask?) in masks.enumerated() {
            if !isFirst { bytes.append(UInt8(ascii: "$")) }
            isFirst = false
            bytes += "#\(index)".utf8
            while mask.last == 0 { mask.removeLast() }
            appendRuns(of: mask, to: &bytes)
        }
    }

    private static func appendRuns(of mask: [UInt8], to bytes: inout [UInt8]) {
        var start = 0
        while start < mask.count {
            var end = start + 1
            while end < mask.count, mask[end] == mask[start] { end += 1 }
            let character = mask[start] + UInt8(ascii: "?")
            if end - start >= shortestRun {
                bytes += "!\(end - start)".utf8
                bytes.append(character)
            } else {
                bytes += repeatElement(character, count: end - start)
            }
            start = end
        }
    }
}

extension [[UInt8]?] {
    /// The row of a colour; empty ones of `width` noughts begin where there was none.
    fileprivate subscript(index: Int, default width: Int) -> [UInt8] {
        get { self[index] ?? [UInt8](repeating: 0, count: width) }
        _modify {
            if self[index] == nil { self[index] = [UInt8](repeating: 0, count: width) }
            var row = self[index].take() ?? []
            defer { self[index] = row }
            yield &row
        }
    }
}
