#if SVG
    import Foundation

    /// Returns a document with the content, 64 pixels wide and high by default.
    func document(_ content: String, attributes: String = #"width="64" height="64""#) -> Data {
        let namespaces = #"xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink""#
        return Data("<svg \(namespaces) \(attributes)>\(content)</svg>".utf8)
    }

    /// A rectangle over the whole document.
    func cover(_ attributes: String) -> String { #"<rect width="100%" height="100%" \#(attributes)/>"# }

    /// Documents of a few hundred bytes, each of another kind. All of them end with the root element.
    enum SampleDocument: String, CaseIterable, Sendable {
        case shapes, styled, entities, embedded, layers, text, utf16

        /// A PNG of 2 × 2 blue pixels.
        static let bluePNG =
            "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEElEQVR42mNgYPj/H4KhDAA/0gf5XBPgQgAAAABJRU5ErkJggg=="

        /// A GIF of 2 × 2 pixels with a red and a blue frame.
        static let animatedGIF =
            "R0lGODlhAgACAJEAAP8AAAAA/wAAAAAAACH5BAAAAAAALAAAAAACAAIAAAIDBAgUACwAAAAAAgACAAACA0yYFAA7"

        var data: Data {
            switch self {
            case .shapes:
                document(
                    """
                    <title>Shapes</title><!-- a comment --><defs><linearGradient id="a"><stop stop-color="red"/>\
                    <stop offset="1" stop-color="#00f8"/></linearGradient></defs><circle cx="20" cy="20" r="15" \
                    fill="url(#a)"/><path d="M5 5h20v30z" stroke="green"/>
                    """)
            case .styled:
                document(
                    """
                    <style>/* s */ .b { fill: teal; opacity: .5 } rect { stroke: red }</style>\
                    <rect class="b" x="3" y="4" width="20" height="9"/>
                    """, attributes: #"viewBox="0 0 32 16""#)
            case .entities:
                Data(
                    """
                    <?xml version="1.0"?><!DOCTYPE svg [<!ENTITY c "red"><!ENTITY r "<rect width='9' height='9' \
                    fill='&c;'/>">]><svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">&r;\
                    <text>&#65;</text></svg>
                    """.utf8)
            case .embedded:
                document(#"<image width="9" height="9" xlink:href="data:image/png;base64,\#(Self.bluePNG)"/>"#)
            case .layers:
                document(
                    """
                    <mask id="m"><circle cx="9" cy="9" r="7" fill="white"/></mask><filter id="f"><feGaussianBlur \
                    stdDeviation="2"/></filter><g mask="url(#m)"><rect width="12" height="30" filter="url(#f)"/></g>
                    """)
            case .text: document(#"<text x="3" y="30" font-size="20">ab<tspan fill="red">c &amp;</tspan></text>"#)
            case .utf16:
                Data([0xFF, 0xFE])
                    + (String(decoding: document(cover(#"fill="navy""#)), as: UTF8.self).data(using: .utf16LittleEndian)
                        ?? Data())
            }
        }
    }
#endif
