import AlcedoCore
import AlcedoTerminal
import AlcedoViewBinding
import Testing

@Suite @MainActor struct TerminalViewTests {
    private let renderer = TerminalRenderer(canvas: TerminalCanvas(columns: 80, rows: 24), depth: .none)
    private let light = DecodedImage(pixels: .grays([255, 255, 255, 255, 255, 255], width: 2))
    private let dark = DecodedImage(pixels: .grays([0, 0], width: 2))

    @Test func `the view draws each image below the previous one`() {
        var output = ""
        let view = TerminalView(renderer: renderer) { output += $0 }

        view.display(.placeholder(dark))
        view.display(.nothing)
        view.display(.image(light, from: .disk))

        #expect(output == "  \n@@\n@@\n")
    }

    @Test func `in place each image overwrites the previous one`() {
        var output: [String] = []
        let view = TerminalView(renderer: renderer, redrawsInPlace: true) { output.append($0) }

        view.display(.image(light, from: .memory))
        view.display(.failure(dark))
        view.display(.nothing)
        view.display(.nothing)

        #expect(output == ["@@\n@@\n", "\u{1B}[2A\u{1B}[J  \n", "\u{1B}[1A\u{1B}[J"])
    }

    @Test func `a new renderer applies from the next image on`() {
        var output = ""
        let view = TerminalView(renderer: renderer) { output += $0 }

        view.renderer.canvas = TerminalCanvas(columns: 1, rows: 1)
        view.display(.image(light, from: .network))

        #expect(output == "@\n")
    }
}
