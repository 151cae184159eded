//! Words and sentences of several languages, for pages that look like pages. Pure: every choice comes from the given generator.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// The language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English.
    English,
    /// Romanian, with comma-below letters.
    Romanian,
    /// Chinese, simplified.
    Chinese,
    /// French, which windows-1252 can write.
    French,
    /// Russian, which windows-1251 can write.
    Russian,
    /// Romanian with the cedilla letters that iso-8859-2 has.
    RomanianCedilla,
}

const ENGLISH: &str = "harbour river market garden winter bridge station letter history village council library museum morning \
    engine railway pottery orchard meadow lantern timber quarry festival weather kitchen recipe wool carpet printing journal \
    archive survey coast island sailor fishing boat tower castle window workshop school teacher children music concert violin \
    painting gallery report budget meeting service delivery repair bicycle mountain valley forest walking path guide season \
    summer autumn spring bread honey cheese apple plum copper silver glass stone water mill baker smith carpenter weaver";
const ROMANIAN: &str = "oraș sat țară pădure râu munte câmpie grădină școală bibliotecă muzeu piață târg iarnă primăvară vară toamnă \
    pâine brânză miere măr prună vișină viță vin țuică cetate turn biserică mănăstire poveste scrisoare istorie știință învățător \
    copii cântec dans sărbătoare obicei meșter olar fierar țesătoare covor lână lemn piatră apă moară drum cale ferată gară tren \
    stație ploaie zăpadă vânt soare lună stele înalt frumos vechi nou întâi mâine dimineață seară noapte ședință hotărâre locuință";
const CHINESE: &str = "港口 河流 市场 花园 冬天 桥梁 车站 书信 历史 村庄 图书馆 博物馆 早晨 铁路 陶器 果园 草地 灯笼 木材 节日 天气 厨房 食谱 羊毛 \
    地毯 印刷 档案 海岸 岛屿 渔船 城堡 窗户 工坊 学校 老师 孩子 音乐 绘画 报告 会议 服务 自行车 山谷 森林 季节 面包 蜂蜜 苹果 石头 水车";
const FRENCH: &str = "forêt rivière marché jardin hiver été pont gare lettre histoire village mairie bibliothèque musée matin soirée \
    chemin théâtre poterie verger prairie lumière carrière fête météo cuisine recette laine tapis imprimerie journal archives côte \
    île pêche bateau tour château fenêtre atelier école élève maître musique concert peinture galerie réunion dépôt vélo montagne \
    vallée sentier saison miel crème pâté pêcheur boulangère tisserand déjà très près après français goût août où là";
const RUSSIAN: &str = "город деревня река мост вокзал письмо история библиотека музей утро вечер дорога театр сад поле зима весна лето \
    осень хлеб мёд яблоко слива вода мельница камень дерево кухня рецепт шерсть ковёр печать журнал архив берег остров рыбак лодка \
    башня крепость окно мастерская школа учитель дети музыка концерт картина выставка отчёт собрание служба велосипед гора долина";

impl Language {
    /// The value of the html element's `lang`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Romanian | Self::RomanianCedilla => "ro",
            Self::Chinese => "zh",
            Self::French => "fr",
            Self::Russian => "ru",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::English => ENGLISH,
            Self::Romanian | Self::RomanianCedilla => ROMANIAN,
            Self::Chinese => CHINESE,
            Self::French => FRENCH,
            Self::Russian => RUSSIAN,
        }
    }

    const fn space(self) -> &'static str {
        match self {
            Self::Chinese => "",
            Self::English | Self::Romanian | Self::French | Self::Russian | Self::RomanianCedilla => " ",
        }
    }

    const fn stop(self) -> &'static str {
        match self {
            Self::Chinese => "。",
            Self::English | Self::Romanian | Self::French | Self::Russian | Self::RomanianCedilla => ". ",
        }
    }

    /// What this language's letters become where its own spelling forbids some of them.
    fn spelled(self, text: String) -> String {
        match self {
            Self::RomanianCedilla => text.replace('ș', "ş").replace('ț', "ţ").replace('Ș', "Ş").replace('Ț', "Ţ"),
            Self::English | Self::Romanian | Self::Chinese | Self::French | Self::Russian => text,
        }
    }
}

/// The words of one language, split once, so that a page of 400 KB does not split them for every word.
pub struct Writer {
    language: Language,
    words: Vec<&'static str>,
}

impl Writer {
    /// A writer in `language`.
    pub fn new(language: Language) -> Self {
        Self { language, words: language.words().split_whitespace().collect() }
    }

    /// `num` words with a capital letter first and no stop.
    pub fn phrase(&self, rng: &mut Rng, num: usize) -> String {
        let mut text = String::new();
        for index in 0..num {
            if index > 0 {
                text.push_str(self.language.space());
            }
            text.push_str(self.word(rng));
        }
        self.language.spelled(capitalised(&text))
    }

    /// One sentence with its stop, and a space behind it where the language has one.
    pub fn sentence(&self, rng: &mut Rng) -> String {
        let num_words = rng.usize(6..18);
        let mut text = self.phrase(rng, num_words);
        text.push_str(self.language.stop());
        text
    }

    /// Early words come more often than late ones, as in real text.
    fn word(&self, rng: &mut Rng) -> &'static str {
        let skewed = rng.f64() * rng.f64();
        let index = (skewed * self.words.len() as f64) as usize;
        self.words[index.min(self.words.len() - 1)]
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

const FIRST: [&str; 32] = [
    "quiet", "amber", "silver", "north", "gentle", "copper", "misty", "green", "hollow", "winter", "golden", "stone",
    "river", "little", "upper", "bright", "cedar", "maple", "plain", "sunny", "broad", "early", "frosty", "ivory",
    "linen", "mossy", "noble", "olive", "pepper", "rustic", "sandy", "tidal",
];
const SECOND: [&str; 32] = [
    "harbour", "orchard", "lantern", "meadow", "workshop", "library", "mill", "bridge", "garden", "kitchen", "museum",
    "archive", "market", "valley", "forge", "pottery", "railway", "school", "tower", "village", "bakery", "cellar",
    "dairy", "ferry", "gallery", "hamlet", "journal", "kiln", "loom", "press", "quarry", "stable",
];

/// The name of the site with this index: unique for the first 1,024, and for any more by a number behind it.
pub fn site_name(offset: u64, index: usize) -> String {
    // 31 is prime to 1,024, so the walk visits every pair before it repeats.
    let pair = (offset as usize % 1024 + index * 31) % 1024;
    let number = if index < 1024 { String::new() } else { format!("-{}", index / 1024) };
    format!("{}-{}{number}.test", FIRST[pair % 32], SECOND[pair / 32])
}

/// A piece of a path: two words and a number that makes it unique within its site.
pub fn slug(rng: &mut Rng, number: usize) -> String {
    format!("{}-{}-{number}", FIRST[rng.usize(0..32)], SECOND[rng.usize(0..32)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sites_do_not_repeat() {
        let names: std::collections::BTreeSet<String> = (0..1500).map(|index| site_name(77, index)).collect();
        assert_eq!(names.len(), 1500);
    }

    #[test]
    fn cedilla_spelling_has_no_comma_below() {
        let mut rng = Rng::with_seed(1);
        let text = Writer::new(Language::RomanianCedilla).phrase(&mut rng, 400);
        assert!(text.contains('ş') && text.contains('ţ'));
        assert!(!text.contains('ș') && !text.contains('ț'));
    }
}
