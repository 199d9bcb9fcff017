import AlcedoCore
import Foundation
import Testing

/// XMP packets that are reduced to the properties that a policy keeps.
@Suite struct XMPFilterTests {
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let namespaces =
        "xmlns:rdf=\"\(rdf)\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
        + "xmlns:exif=\"http://ns.adobe.com/exif/1.0/\" xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" "
        + "xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" "
        + "xmlns:own=\"https://own.example/\""

    private func packet(attributes: String = "", _ elements: String = "") -> Data {
        Data(
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF \(Self.namespaces)><rdf:Description \(attributes)>\(elements)"
                .utf8) + Data("</rdf:Description></rdf:RDF></x:xmpmeta>".utf8)
    }

    private func filtered(_ packet: Data, _ selection: MetadataSelection) -> String? {
        ImageMetadata(xmp: packet).selected(selection).xmp.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `everything is kept except what describes the file`() throws {
        let source = packet(
            attributes: "tiff:Orientation='6' exif:GPSLatitude='47,1N' own:a=\"1 &lt; &#x32; &amp; &quot;3&quot;\"",
            "<tiff:ImageWidth>40</tiff:ImageWidth><own:b rdf:parseType='Resource'><own:c>x<![CDATA[<y>]]></own:c>"
                + "</own:b><!-- a comment --><xmp:Thumbnails>preview</xmp:Thumbnails>")

        let result = try #require(filtered(source, .all))

        #expect(result.contains("exif:GPSLatitude=\"47,1N\""))
        #expect(result.contains("own:a=\"1 &lt; 2 &amp; &quot;3&quot;\""))
        #expect(result.contains("<own:b rdf:parseType=\"Resource\"><own:c>x&lt;y&gt;</own:c></own:b>"))
        for part in ["Orientation", "ImageWidth", "preview", "comment"] { #expect(!result.contains(part)) }
        #expect(filtered(Data(result.utf8), .all) == result)
    }

    @Test func `only known properties are kept without a location, with times without a zone`() throws {
        let source = packet(
            attributes: "xmp:CreateDate='2024-01-02T03:04:05.6+09:00' photoshop:City='Zurich' own:a='1' dc:title='T'",
            "<exif:DateTimeOriginal>2024-01-02T03:04:05Z</exif:DateTimeOriginal><exif:GPSAltitude>9</exif:GPSAltitude>"
                + "<dc:subject>Zurich</dc:subject><tiff:Make>M-1 T-2</tiff:Make>")

        let result = try #require(filtered(source, .withoutLocation))

        #expect(result.contains("xmp:CreateDate=\"2024-01-02T03:04:05.6\""))
        #expect(result.contains("<exif:DateTimeOriginal>2024-01-02T03:04:05</exif:DateTimeOriginal>"))
        #expect(result.contains("<tiff:Make>M-1 T-2</tiff:Make>"))
        #expect(result.contains("dc:title=\"T\""))
        for part in ["GPS", "Zurich", "own:"] { #expect(!result.contains(part)) }
        #expect(filtered(Data(result.utf8), .withoutLocation) == result)
    }

    @Test func `a location inside a kept property is removed`() throws {
        let source = packet(
            "<dc:rights exif:GPSLatitude='1' a='2'><rdf:Alt><rdf:li xml:lang='de' own:x='3'>R"
                + "<exif:GPSLongitude>4</exif:GPSLongitude></rdf:li></rdf:Alt></dc:rights>")

        let result = try #require(filtered(source, .copyright))

        #expect(result.contains("<dc:rights><rdf:Alt><rdf:li xml:lang=\"de\">R</rdf:li></rdf:Alt></dc:rights>"))
    }

    @Test func `the owner of the copyright and the licensor are rights`() throws {
        let source = packet(
            attributes: "xmlns:plus='http://ns.useplus.org/ldf/xmp/1.0/' plus:LicensorURL='https://a.example/license'",
            "<plus:Licensor><rdf:Seq><rdf:li rdf:parseType='Resource'><plus:LicensorName>Agency</plus:LicensorName>"
                + "<plus:LicensorCity>Zurich</plus:LicensorCity></rdf:li></rdf:Seq></plus:Licensor>"
                + "<plus:CopyrightOwner><rdf:Seq><rdf:li plus:CopyrightOwnerName='Ada' plus:Other='x'/></rdf:Seq>"
                + "</plus:CopyrightOwner><plus:Version>1.2</plus:Version>")

        for selection in [MetadataSelection.copyright, .withoutLocation] {
            let result = try #require(filtered(source, selection))
            for part in ["https://a.example/license", ">Agency<", "\"Ada\""] { #expect(result.contains(part)) }
            for part in ["Zurich", "\"x\"", "1.2"] { #expect(!result.contains(part)) }
        }
    }

    @Test func `a property counts by its namespace and not by its prefix`() throws {
        let renamed =
            Data(
                "<r:RDF xmlns:r='\(Self.rdf)'><r:Description xmlns:q='http://purl.org/dc/elements/1.1/' q:rights='kept'/>"
                    .utf8
            ) + Data("<r:Description xmlns:dc='https://other.example/' dc:rights='lost'/></r:RDF>".utf8)

        let result = try #require(filtered(renamed, .copyright))

        #expect(result.contains("q:rights=\"kept\""))
        #expect(!result.contains("lost"))
    }

    @Test func `a namespace keeps its meaning when prefixes collide or are missing`() throws {
        let source = Data(
            ("<r:RDF xmlns:r='\(Self.rdf)'><r:Description xmlns:p='https://a.example/' p:n='1'/>"
                + "<r:Description xmlns:p='https://b.example/' p:n='2'><n xmlns='https://c.example/'>3</n>"
                + "</r:Description></r:RDF>").utf8)

        let result = try #require(filtered(source, .all))

        #expect(result.contains("xmlns:p=\"https://a.example/\""))
        #expect(result.contains("p:n=\"1\""))
        for uri in ["https://b.example/", "https://c.example/"] { #expect(result.contains("=\"\(uri)\"")) }
        #expect(filtered(Data(result.utf8), .all) == result)
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a b></a>", "<a b=1/>", "<a b='&other;'/>", "<p:a/>", "<a b='<'/>",
        "<a b='1'c='2'/>",
        "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<a>&#x110000;</a>", "<a>&#xD800;</a>", "</a>", "<a/", "<a", "<",
        "<a xmlns:p='u' p:b='1'>", "<?x", "<!-- x", "<a><![CDATA[x</a>", "<a b='1", "<a>&amp</a>",
    ])
    func `a damaged packet is removed`(text: String) {
        let rdf = "<r:RDF xmlns:r='\(Self.rdf)'><r:Description xmlns:p='u' p:a='1'/>\(text)"
        for source in [text, rdf] {
            for selection in [MetadataSelection.all, .copyright] {
                #expect(filtered(Data(source.utf8), selection) == nil)
            }
        }
    }

    @Test func `packets beyond the limits are removed`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<own:a>", count: depth) + "x" + String(repeating: "</own:a>", count: depth)
        }
        #expect(filtered(packet(nested(61)), .all) != nil)
        #expect(filtered(packet(nested(62)), .all) == nil)
        #expect(filtered(packet(nested(1_000_000)), .all) == nil)
        #expect(filtered(packet(String(repeating: "<own:a/>", count: 40_000)), .all) != nil)
        #expect(filtered(packet(String(repeating: "<own:a/>", count: 50_001)), .all) == nil)
        let declarations = (0..<200).map { "xmlns:n\($0)='u'" }.joined(separator: " ")
        #expect(filtered(packet("<own:a \(declarations)/>"), .all) == nil)
    }

    @Test func `a changed or missing byte never traps, and never lets a location pass`() {
        let source = [UInt8](
            packet(
                attributes: "exif:GPSLatitude=\"47,11.22N\" dc:rights='&#65;da'",
                "<photoshop:Credit>C</photoshop:Credit><exif:GPSLongitude>8,30.5E</exif:GPSLongitude>"))
        for count in source.indices { #expect(filtered(Data(source[..<count]), .all) == nil) }
        for index in source.indices {
            for value in [0, 0x20, 0x22, 0x26, 0x27, 0x2F, 0x3C, 0x3E, 0x41, 0x80, 0xFF] as [UInt8] {
                var changed = source
                changed[index] = value
                let result = filtered(Data(changed), .copyright) ?? ""
                #expect(!result.contains("47,11"))
                #expect(!result.contains("8,30"))
            }
        }
    }

    @Test func `a packet in the wrapper of files is read, with its padding`() throws {
        let wrapped =
            Data("\u{FEFF}<?xpacket begin='\u{FEFF}' id='W5M0MpCehiHzreSzNTczkc9d'?>\r\n".utf8)
            + packet(attributes: "dc:rights='R'") + Data(repeating: 0x20, count: 2_000)
            + Data("<?xpacket end='w'?>".utf8)

        #expect(try #require(filtered(wrapped, .copyright)).contains("dc:rights=\"R\""))
    }
}
