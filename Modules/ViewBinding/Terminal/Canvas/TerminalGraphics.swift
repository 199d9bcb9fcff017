public import AlcedoCore

/// How a terminal shows pictures.
public enum TerminalGraphics: Sendable, Hashable {
    /// In character cells, two pixels each: every terminal.
    case blocks
    /// In pixels, by the Kitty graphics protocol: kitty, Ghostty, WezTerm, Konsole.
    case kitty(cell: PixelSize)
    /// In pixels of at most 256 colours, by DEC's Sixel: xterm, foot, mlterm, Windows Terminal, tmux where it was built
    /// with it.
    case sixel(cell: PixelSize)

    /// Pixels of a cell, where pictures are made of pixels; a side out of 1 to 1,000 counts as the nearest of them.
    var cell: PixelSize? {
        switch self {
        case .blocks: nil
        case .kitty(let cell), .sixel(let cell):
            PixelSize(width: min(max(1, cell.width), 1_000), height: min(max(1, cell.height), 1_000))
        }
    }
}
