import AlcedoCore
import FoundationEssentials

/// Pixels as commands of the Kitty graphics protocol.
///
/// Source: "Terminal graphics protocol", sw.kovidgoyal.net/kitty/graphics-protocol, sections "Control data reference" and
/// "Remote client".
enum KittyText {
    /// Bytes of text a command may carry.
    private static let chunk = 4_096

    /// Shows a picture at the cursor, which stays.
    ///
    /// - Parameters:
    ///   - pixels: Four bytes a pixel, opaque.
    ///   - id: Replaces what was shown under the number; nil shows it besides.
    static func show(_ pixels: PixelBuffer, id: UInt32?) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pixels.size.pixelCount * 3)
        for y in 0..<pixels.height {
            let row = pixels.row(y)
            for offset in stride(from: 0, to: row.byteCount, by: 4) {
                for sample in 0..<3 {
                    bytes.append(row.unsafeLoad(fromByteOffset: offset + sample, as: UInt8.self))
                }
            }
        }
        let data = Array(Data(bytes).base64EncodedData())
        let name = id.map { "i=\($0),p=1," } ?? ""
        var text = ""
        for start in stride(from: 0, to: data.count, by: chunk) {
            let end = min(start + chunk, data.count)
            // Quiet, or the terminal would type its answers.
            let first = start == 0 ? "a=T,f=24,s=\(pixels.width),v=\(pixels.height),\(name)C=1," : ""
            text += "\u{1B}_G\(first)q=2,m=\(end < data.count ? 1 : 0);"
            text += String(decoding: data[start..<end], as: UTF8.self) + "\u{1B}\\"
        }
        return text
    }

    /// Takes away the picture that was shown under a number, and its pixels.
    static func remove(_ id: UInt32) -> String { "\u{1B}_Ga=d,d=I,i=\(id),q=2\u{1B}\\" }
}
