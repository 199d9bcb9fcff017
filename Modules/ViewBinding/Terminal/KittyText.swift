import AlcedoCore
import FoundationEssentials

/// An encoder for the Kitty graphics protocol.
///
/// Source: "Terminal graphics protocol", sw.kovidgoyal.net/kitty/graphics-protocol, sections "Control data reference"
/// and "Remote client".
enum KittyText {
    /// The maximum number of payload bytes in one command.
    private static let chunk = 4_096

    /// Returns the commands that show an image at the cursor, without moving the cursor.
    ///
    /// - Parameters:
    ///   - pixels: The pixels, opaque and with four bytes per pixel.
    ///   - id: The number under which the terminal stores the image, replacing an earlier image of that number; nil to
    ///     show the image in addition to earlier images.
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
            // Responses are suppressed (`q=2`), because the terminal would write them to standard input.
            let first = start == 0 ? "a=T,f=24,s=\(pixels.width),v=\(pixels.height),\(name)C=1," : ""
            text += "\u{1B}_G\(first)q=2,m=\(end < data.count ? 1 : 0);"
            text += String(decoding: data[start..<end], as: UTF8.self) + "\u{1B}\\"
        }
        return text
    }

    /// Returns the command that removes the image stored under a number, and its pixels.
    static func remove(_ id: UInt32) -> String { "\u{1B}_Ga=d,d=I,i=\(id),q=2\u{1B}\\" }
}
