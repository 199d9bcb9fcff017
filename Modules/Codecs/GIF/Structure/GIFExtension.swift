import AlcedoCore
import FoundationEssentials

/// An extension whose sub-blocks are being read.
///
/// Source: GIF89a sections 23, 25 and 26; Netscape's and ANIMEXTS's looping extension; ICC.1 annex B.5 for profiles;
/// XMP specification part 3, section 1.1.2.
struct GIFExtension {
    enum Content {
        case graphicControl(disposal: FrameDisposal, transparentIndex: Int?, delay: Duration)
        case plainText
        case loopCount(Int)
        case colorProfile(Data)
        case xmp(Data)
        case nothing
    }

    private enum Kind {
        case graphicControl, plainText, application, looping, colorProfile, xmp, ignored
    }

    private var kind: Kind
    private var blockCount = 0
    private var collected = Data()

    /// Known when the last sub-block has been taken.
    private(set) var content = Content.nothing

    init(label: UInt8) {
        switch label {
        case 0xF9: kind = .graphicControl
        case 0x01: kind = .plainText
        case 0xFF: kind = .application
        default: kind = .ignored
        }
    }

    /// Takes the next sub-block; an empty one is the last.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, _ block: Range<Int>, limits: DecodingLimits) {
        defer { blockCount += 1 }
        switch kind {
        case .graphicControl where blockCount == 0 && block.count == 4:
            readControl(Array(bytes[block]))
        case .plainText where block.isEmpty: content = .plainText
        case .application where blockCount == 0: kind = Self.application(bytes[block])
        case .looping where block.count >= 3 && bytes[block.lowerBound] & 7 == 1:
            content = .loopCount(Int(bytes[block.lowerBound + 1]) | Int(bytes[block.lowerBound + 2]) << 8)
        case .colorProfile:
            collect(bytes[block], limits)
            if block.isEmpty, !collected.isEmpty { content = .colorProfile(collected) }
        case .xmp:
            // The packet lies there as it is; what reads as counts are letters of it.
            collect(bytes[(block.lowerBound - 1)..<block.upperBound], limits)
            if block.isEmpty { readXMP() }
        default: break
        }
    }

    private mutating func readControl(_ block: [UInt8]) {
        let disposal: FrameDisposal =
            switch block[0] >> 2 & 7 {
            case 2: .clear
            case 3: .restore
            default: .keep
            }
        content = .graphicControl(
            disposal: disposal, transparentIndex: block[0] & 1 == 1 ? Int(block[3]) : nil,
            delay: .milliseconds(10 * (Int(block[1]) | Int(block[2]) << 8)))
    }

    private static func application(_ identifier: some Collection<UInt8>) -> Kind {
        switch String(decoding: identifier, as: UTF8.self) {
        case "NETSCAPE2.0", "ANIMEXTS1.0": .looping
        case "ICCRGBG1012": .colorProfile
        case "XMP DataXMP": .xmp
        default: .ignored
        }
    }

    private mutating func collect(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ limits: DecodingLimits) {
        guard collected.count + bytes.count <= min(limits.maximumMetadataByteCount, limits.maximumChunkByteCount) else {
            kind = .ignored
            collected = Data()
            return
        }
        collected.append(contentsOf: bytes)
    }

    /// The packet ends before the 258 bytes that lead every reader of sub-blocks to the end: to the last of them, or to
    /// the one before.
    private mutating func readXMP() {
        let trailer = [0x01] + (0...255).reversed().map { UInt8($0) } + [0x00]
        for end in [trailer[...], trailer.dropLast()] where collected.count > end.count {
            guard collected.suffix(end.count).elementsEqual(end) else { continue }
            content = .xmp(Data(collected.dropLast(end.count)))
            return
        }
    }
}
