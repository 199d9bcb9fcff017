package import FoundationEssentials

/// A format that is recognized only for the error message about a file that no codec of a registry recognizes.
package enum ForeignFormat {
    private static let signatures: [(bytes: [UInt8], name: String)] = [
        ([0xFF, 0x0A], "JPEG XL, which needs the package trait JXL"),
        ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20], "JPEG XL, which needs the package trait JXL"),
        ([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20], "JPEG 2000"),
        ([0, 0, 2, 0], "a Windows cursor (CUR)"),
        (Array("II*\0".utf8), "TIFF, which needs the package trait TIFF"),
        (Array("MM\0*".utf8), "TIFF, which needs the package trait TIFF"),
        (Array("II+\0".utf8), "TIFF, which needs the package trait TIFF"),
        (Array("MM\0+".utf8), "TIFF, which needs the package trait TIFF"),
        (Array("8BPS".utf8), "a Photoshop document (PSD)"),
        (Array("%PDF".utf8), "PDF"),
        ([0x1F, 0x8B], "compressed by gzip; a compressed SVG (SVGZ) needs the package trait SVG"),
    ]

    /// Returns the format of a file, and the package traits that its codec in this package needs. Returns nil when the
    /// format is unknown.
    package static func name(of data: Data) -> String? {
        let bytes = [UInt8](data.prefix(512))
        if let known = signatures.first(where: { bytes.starts(with: $0.bytes) }) { return known.name }
        if bytes.dropFirst(4).starts(with: "ftyp".utf8) { return name(of: brands(bytes)) }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        return text.contains("<svg") && !text.contains("html") ? "SVG, which needs the package trait SVG" : nil
    }

    /// Returns the brands in the first box of a file: the major brand, and after the version the compatible ones.
    private static func brands(_ bytes: [UInt8]) -> [String] {
        let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return stride(from: 8, to: min(size, bytes.count) - 3, by: 4).filter { $0 != 12 }.map {
            String(decoding: bytes[$0..<$0 + 4], as: UTF8.self)
        }
    }

    private static func name(of brands: [String]) -> String? {
        if brands.contains("mif3") { return "HEIF or AVIF in the compact form of the brand mif3" }
        if brands.contains("avif") || brands.contains("avis") { return "AVIF, which needs the package trait AVIF" }
        let isHEIF = brands.contains { $0.hasPrefix("hei") || $0.hasPrefix("hev") || $0 == "mif1" || $0 == "msf1" }
        return isHEIF ? "HEIF, which needs the package traits HEIF and Sandbox" : nil
    }
}
